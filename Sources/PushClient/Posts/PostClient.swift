package import Base
package import RideCore
import Synchronization
import SystemSupport

/// Posts to the receivers of the service.
///
/// Each post ends in exactly one report, within the time limit plus that of the queue. A receiver has
/// a few connections, each with a thread that ends when nothing is left to send.
package final class PostClient: Sendable {
  private struct Job {
    let request: PushRequest
    let post: PostAddress
    let report: @Sendable ([PushReport]) -> Void
    let submitted: MonotonicTime
  }

  private struct Queue {
    var jobs: [Job] = []
    var threads = 0
  }

  private struct State {
    var receivers: [String: PostReceiver]
    var queues: [String: Queue] = [:]
    /// Those that a thread is sending, by their tickets.
    var sending: [UInt64: Job] = [:]
    /// The rules whose receiver answered 410.
    var off: Set<PostAddress> = []
    var isClosed = false

    var isIdle: Bool { queues.allSatisfy { $0.value.threads == 0 } }
  }

  /// The most connections to one receiver.
  package static let connections = 4
  /// How long a post waits for a connection; then it is tried later.
  private static let queueLimit: Duration = .seconds(2)

  private let timeLimit: Duration
  private let now: @Sendable () -> Timestamp
  private let state: Mutex<State>

  /// - Parameters:
  ///   - receivers: By the URL's variable.
  ///   - timeLimit: How long one attempt may take.
  ///   - now: The wall clock, for signatures.
  package init(
    receivers: [String: PostReceiver], timeLimit: Duration = .seconds(10),
    now: @escaping @Sendable () -> Timestamp
  ) {
    state = Mutex(State(receivers: receivers))
    self.timeLimit = timeLimit
    self.now = now
  }

  /// Replaces the receivers, by the URL's variable; a post that is being sent keeps its own.
  package func use(_ receivers: [String: PostReceiver]) {
    state.withLock { $0.receivers = receivers }
  }

  /// The rules whose posts are off, with their receivers.
  package var off: Set<PostAddress> { state.withLock { $0.off } }

  /// Turns all rules' posts on again, because the rules were reloaded.
  package func reload() { state.withLock { $0.off = [] } }

  /// Accepts posts and returns at once; ignores what is not a post.
  package func submit(
    _ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void
  ) {
    for request in requests {
      guard case .post(let post) = request.address else { continue }
      let job = Job(request: request, post: post, report: report, submitted: .now())
      let starts: Bool? = state.withLock { state in
        if state.isClosed { return nil }
        state.queues[post.urlVariable, default: Queue()].jobs.append(job)
        guard state.queues[post.urlVariable, default: Queue()].threads < Self.connections else {
          return false
        }
        state.queues[post.urlVariable, default: Queue()].threads += 1
        return true
      }
      guard let starts else {
        end(job, .unsent(.closed))
        continue
      }
      if starts { startThread(post.urlVariable) }
    }
  }

  /// Stops accepting posts, and waits this long for those in flight; the others may have arrived.
  package func close(within limit: Duration) async {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { for name in state.queues.keys { state.queues[name]?.jobs = [] } }
      return state.queues.values.flatMap(\.jobs)
    }
    for job in waiting { end(job, .unsent(.closed)) }
    let deadline = MonotonicTime.now() + limit
    while !state.withLock({ $0.isIdle }), MonotonicTime.now() < deadline {
      try? await Task.sleep(for: .milliseconds(20))
    }
    let left = state.withLock { state in
      defer { state.sending = [:] }
      return Array(state.sending.values)
    }
    for job in left { end(job, .unanswered(.timeout)) }
  }

  private func startThread(_ name: String) {
    if let thread = WorkerThread(named: "post", { self.serve(name) }) { return thread.detach() }
    let failed = state.withLock { state in
      state.queues[name]?.threads -= 1
      // Another thread sends what is left.
      guard state.queues[name]?.threads == 0 else { return [Job]() }
      defer { state.queues[name]?.jobs = [] }
      return state.queues[name]?.jobs ?? []
    }
    for job in failed { end(job, .unsent(.noConnection("the system has no thread left"))) }
  }

  private func serve(_ name: String) {
    let exchange = PostExchange()
    while let job = next(name) {
      let outcome = outcome(of: job, exchange)
      if case .refused(let refusal) = outcome, refusal.status == 410 {
        state.withLock { _ = $0.off.insert(job.post) }
      }
      let isOpen = state.withLock { $0.sending.removeValue(forKey: job.request.ticket) != nil }
      if isOpen { end(job, outcome) }
    }
  }

  /// Takes the next post of a receiver; ends the thread if there is none.
  private func next(_ name: String) -> Job? {
    state.withLock { state in
      guard var queue = state.queues[name] else { return nil }
      defer { state.queues[name] = queue }
      if queue.jobs.isEmpty {
        queue.threads -= 1
        return nil
      }
      let job = queue.jobs.removeFirst()
      state.sending[job.request.ticket] = job
      return job
    }
  }

  private func outcome(of job: Job, _ exchange: PostExchange?) -> PushOutcome {
    // APNs drops what is out of time; a receiver would not.
    let isLate = now() >= job.request.validUntil
    if isLate || MonotonicTime.now() - job.submitted > Self.queueLimit {
      return .unsent(.queuedTooLong)
    }
    guard let receiver = state.withLock({ $0.receivers[job.post.urlVariable] }) else {
      return .unsent(.receiverOff("no receiver \(job.post.receiver) on this node"))
    }
    if state.withLock({ $0.off.contains(job.post) }) {
      return .unsent(
        .receiverOff("the receiver answered 410 before: the rule's posts are off until a reload"))
    }
    guard let exchange else { return .unsent(.noConnection("libcurl does not start")) }
    return exchange.send(job.request, to: receiver, at: now(), within: timeLimit)
  }

  private func end(_ job: Job, _ outcome: PushOutcome) {
    job.report([PushReport(ticket: job.request.ticket, outcome: outcome)])
  }
}
