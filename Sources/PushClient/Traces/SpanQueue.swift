import Base
import RideCore

/// Decides which spans are sent when: a state machine without a clock or I/O.
///
/// It is bounded by the number of spans: what does not fit is dropped and counted. One request is in
/// flight at a time, and is repeated until it is answered for good.
struct SpanQueue {
  enum Step: Equatable {
    case send([TraceSpan])
    case wait(until: MonotonicTime)
    /// Nothing is left after `close`, or no time.
    case end
  }

  /// The maximum number of spans, those of the request in flight included.
  private let limit: Int
  /// The maximum number of spans in a request.
  private let batchLimit: Int
  /// How long the first span of a request waits for more.
  static let delay: Duration = .seconds(1)
  static let backoff = Backoff(first: .seconds(1), longest: .seconds(30))

  private var waiting: [TraceSpan] = []
  /// The request in flight, or the one to repeat.
  private var batch: [TraceSpan] = []
  private var isSending = false
  private var failures = 0
  /// When the next request is due.
  private var due: MonotonicTime = .never
  /// When everything must have been sent; nil before `close`.
  private var end: MonotonicTime?
  private(set) var counts = SpanCounts()

  init(limit: Int = 8192, batchLimit: Int = 512) {
    self.limit = limit
    self.batchLimit = batchLimit
  }

  /// Adds spans; returns whether the next step may be due earlier than before.
  mutating func add(_ spans: [TraceSpan], at now: MonotonicTime) -> Bool {
    let wasEmpty = waiting.isEmpty
    let room = end == nil ? max(0, limit - waiting.count - batch.count) : 0
    waiting += spans.prefix(room)
    counts.dropped += max(0, spans.count - room)
    if batch.isEmpty, wasEmpty, !waiting.isEmpty { due = now + Self.delay }
    return batch.isEmpty && (wasEmpty != waiting.isEmpty || waiting.count >= batchLimit)
  }

  /// Returns the next step; after `send`, `ended` must be called before the next call.
  mutating func next(at now: MonotonicTime) -> Step {
    if let end, now >= end {
      counts.failed += waiting.count + batch.count
      (waiting, batch) = ([], [])
    }
    if batch.isEmpty {
      if waiting.isEmpty { return end == nil ? .wait(until: .never) : .end }
      if end == nil, waiting.count < batchLimit, now < due { return .wait(until: due) }
      batch = Array(waiting.prefix(batchLimit))
      waiting.removeFirst(batch.count)
    } else if now < due {
      return .wait(until: end.map { min($0, due) } ?? due)
    }
    isSending = true
    return .send(batch)
  }

  /// Records the answer to the request in flight.
  ///
  /// - Parameter random: In 0 ..< 1; spreads retries.
  mutating func ended(_ answer: SpanAnswer, at now: MonotonicTime, random: Double) {
    isSending = false
    if case .later(let least) = answer {
      due = now + max(least, Self.backoff.delay(failures: failures, random: random))
      failures += 1
      return
    }
    if case .accepted(let rejected) = answer {
      let rejected = min(max(0, rejected), batch.count)
      counts.exported += batch.count - rejected
      counts.failed += rejected
    } else {
      counts.failed += batch.count
    }
    batch = []
    failures = 0
    due = waiting.isEmpty ? .never : now + Self.delay
  }

  /// Accepts no more spans; the rest is sent at once, until a time.
  mutating func close(until end: MonotonicTime, at now: MonotonicTime) {
    self.end = min(self.end ?? end, end)
    if !isSending { due = now }
  }
}

/// The outcomes of spans since the start of the process.
package struct SpanCounts: Hashable, Sendable {
  package var exported = 0
  /// Those that found the queue full.
  package var dropped = 0
  /// Those that the receiver refused, or that could not be sent before the end.
  package var failed = 0

  package init() {}
}

/// What an answer means for the spans of a request.
enum SpanAnswer: Equatable {
  /// They were accepted, except for this number.
  case accepted(rejected: Int)
  /// They are refused for good.
  case refused
  /// They may be sent again, after this time at the earliest.
  case later(atLeast: Duration)

  /// The statuses that OTLP/HTTP allows to repeat.
  private static let retryable: Set<Int> = [429, 502, 503, 504]

  /// - Parameter retryAfter: The header of this name.
  init(status: Int, retryAfter: String?, body: [UInt8], at now: Timestamp) {
    switch status {
    case 200..<300: self = .accepted(rejected: Self.rejected(body))
    case _ where Self.retryable.contains(status):
      let wait = retryAfter.flatMap { RetryAfter.duration(of: Array($0.utf8), at: now) }
      self = .later(atLeast: wait ?? .zero)
    default: self = .refused
    }
  }

  /// Reads `partialSuccess`; the number is a text in OTLP's JSON.
  private static func rejected(_ body: [UInt8]) -> Int {
    switch JSONValue(json: body)?.value(at: ["partialSuccess", "rejectedSpans"]) {
    case .string(let text): Int(text) ?? 0
    case .integer(let number): Int(clamping: number)
    default: 0
    }
  }
}
