/// Tracks whether the server answers a session's transactions; it reads no clock of its own.
struct ResponseTracker: Sendable {
  typealias Instant = ContinuousClock.Instant

  private var waiting: [Int: Instant] = [:]
  private var count = 0
  /// Whether the last transaction ended without an answer from the server.
  private var isCut = false

  /// Records that a transaction was submitted; returns the number to end it by.
  mutating func asked(now: Instant) -> Int {
    count += 1
    waiting[count] = now
    return count
  }

  /// Records that a transaction has ended. An error that the server reports is an answer, too.
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

  /// Whether the last transaction got no answer, or one has waited for `limit`.
  func isStalled(for limit: Duration, now: Instant) -> Bool {
    isCut || waiting.values.contains { now - $0 >= limit }
  }
}
