/// Whether a session gets answers. Keeps no time of its own.
struct StatementTimeouts: Sendable {
  typealias Instant = ContinuousClock.Instant

  private var waiting: [Int: Instant] = [:]
  private var count = 0
  /// The last run that ended did so without an answer of the server's.
  private var isCut = false

  /// A run begins to wait; returns the number to end it by.
  mutating func asked(now: Instant) -> Int {
    count += 1
    waiting[count] = now
    return count
  }

  /// A run has ended: with an answer, be it a refusal, or without one.
  mutating func ended(_ number: Int, _ outcome: Transaction.Outcome) {
    waiting[number] = nil
    switch outcome {
    case .success: isCut = false
    case .failure(let error):
      switch error.kind {
      case .server: isCut = false
      case .unreachable, .connectionLost, .timeout, .protocol: isCut = true
      case .invalidConninfo, .invalidParameter, .closed: break
      }
    }
  }

  /// True where the last run had no answer, or one has waited for so long.
  func isStalled(for limit: Duration, now: Instant) -> Bool {
    isCut || waiting.values.contains { now - $0 >= limit }
  }
}
