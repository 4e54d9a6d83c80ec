package import Base
import Glibc
package import RideCore
import Synchronization
import SystemSupport

/// Sends spans to a receiver of OTLP/HTTP, in JSON.
///
/// A thread of its own does it, so that nobody who adds spans waits for the receiver.
package final class SpanExporter: Sendable {
  /// Where spans are sent, and what is sent along.
  package struct Target: Hashable, Sendable {
    /// An http or https URL.
    package var url: String
    /// Lines such as `authorization: Bearer x`.
    package var headers: [String]
    /// A PEM file of certificate authorities trusted in addition to the system's.
    package var caFile: String?
    /// The attributes of the service.
    package var resource: [TraceSpan.Attribute]

    package init(
      url: String, headers: [String] = [], caFile: String? = nil,
      resource: [TraceSpan.Attribute] = []
    ) {
      self.url = url
      self.headers = headers
      self.caFile = caFile
      self.resource = resource
    }
  }

  private struct State {
    var queue: SpanQueue
    /// Cancels the request in flight.
    var request: TLSVerifier?
    var hasEnded = false
  }

  private let target: Target
  private let timeLimit: Duration
  private let now: @Sendable () -> Timestamp
  private let onAnswer: @Sendable (String?) -> Void
  /// Nil if the process had no file descriptor left; the thread then looks once a second.
  private let wake = EventFD()
  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The maximum number of spans that wait.
  ///   - timeLimit: How long one request may take.
  ///   - now: The wall clock, for `retry-after`.
  ///   - onAnswer: Called on the exporter's thread after each request, with the problem if it failed;
  ///     it must not block.
  package init(
    to target: Target, limit: Int = 8192, timeLimit: Duration = .seconds(10),
    now: @escaping @Sendable () -> Timestamp, onAnswer: @escaping @Sendable (String?) -> Void
  ) {
    self.target = target
    self.timeLimit = timeLimit
    self.now = now
    self.onAnswer = onAnswer
    state = Mutex(State(queue: SpanQueue(limit: limit)))
    // The thread retains the exporter until `close`.
    if let thread = WorkerThread(named: "otlp", { self.run() }) {
      thread.detach()
    } else {
      onAnswer("the system has no thread left")
      state.withLock { state in
        state.queue.close(until: .now(), at: .now())
        state.hasEnded = true
      }
    }
  }

  package var counts: SpanCounts { state.withLock { $0.queue.counts } }

  /// Accepts spans and returns at once.
  package func add(_ spans: [TraceSpan]) {
    if spans.isEmpty { return }
    if state.withLock({ $0.queue.add(spans, at: .now()) }) { wake?.signal() }
  }

  /// Sends what is left, within a time limit, and ends.
  package func close(within limit: Duration) async {
    let end = MonotonicTime.now() + limit
    state.withLock { $0.queue.close(until: end, at: .now()) }
    wake?.signal()
    while !state.withLock({ $0.hasEnded }), MonotonicTime.now() < end {
      try? await Task.sleep(for: .milliseconds(10))
    }
    state.withLock { $0.request }?.cancel()
  }

  private enum Turn {
    case send([TraceSpan], TLSVerifier)
    case sleep(until: MonotonicTime)
    case end
  }

  private func run() {
    while true {
      switch nextTurn() {
      case .end: return
      case .send(let spans, let verifier): send(spans, verifier)
      case .sleep(let until): sleep(until: until)
      }
    }
  }

  private func nextTurn() -> Turn {
    state.withLock { state in
      switch state.queue.next(at: .now()) {
      case .send(let spans):
        let verifier = TLSVerifier(caFile: target.caFile, readsAhead: false, offersHTTP2: false)
        state.request = verifier
        return .send(spans, verifier)
      case .wait(let until): return .sleep(until: until)
      case .end:
        state.hasEnded = true
        return .end
      }
    }
  }

  private func sleep(until: MonotonicTime) {
    // `poll` ignores a negative descriptor.
    var descriptor = pollfd(fd: wake?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    let wait = until.pollTimeout(from: .now())
    unsafe _ = poll(&descriptor, 1, wake == nil ? min(wait, 1000) : wait)
    if descriptor.revents != 0 { wake?.clear() }
  }

  private func send(_ spans: [TraceSpan], _ verifier: TLSVerifier) {
    var post = CurlPost(
      url: target.url, headers: ["content-type: application/json"] + target.headers,
      body: SpanRequest.json(spans, resource: target.resource),
      connectLimit: min(.seconds(5), timeLimit), limit: timeLimit)
    post.allowsPlain = true
    var answer = SpanAnswer.later(atLeast: .zero)
    var problem: String?
    do throws(CurlError) {
      let response = try post.send(verifier, usesHTTP2: false)
      answer = SpanAnswer(
        status: response.status, retryAfter: response.headers["retry-after"], body: response.body,
        at: now())
      if case .accepted = answer {} else { problem = "\(target.url): HTTP \(response.status)" }
    } catch {
      problem = error.text
    }
    state.withLock { state in
      state.request = nil
      state.queue.ended(answer, at: .now(), random: .random(in: 0..<1))
    }
    onAnswer(problem)
  }
}
