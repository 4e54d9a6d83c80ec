/// A state machine that checks whether notifications reach this node: it periodically sends one to
/// itself, which must come back.
///
/// It reads no clock. LISTEN may be lost silently: a pooler accepts it and gives the server
/// connection to another client, or the connection is dead and no error was reported.
struct NotifyHealthCheck: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// A change to report.
  enum Change: Equatable { case lost, queueFull, regained }

  /// The shortest interval between two probes.
  static let period: Duration = .seconds(5)
  /// The shortest interval after several probes in a row did not come back.
  static let longPeriod: Duration = .seconds(60)
  /// How long a probe may take to come back.
  static let limit: Duration = .seconds(2)

  /// Whether the last probe came back over the current connection.
  private(set) var isHealthy = false
  private var isConnected = false
  /// The last reported change, until LISTEN works again.
  private var reported: Change?
  private var misses = 0
  private var number = 0
  /// The outstanding probe, and whether its transaction is known to have committed.
  private var out: (number: Int, isSent: Bool)?
  private var sentAt: Instant?

  /// Returns the number of a probe to send now; nil if it is not time.
  mutating func take(now: Instant) -> Int? {
    guard isConnected else { return nil }
    if let out, out.isSent { return nil }
    let wait = misses < 2 ? Self.period : Self.longPeriod
    if let sentAt, now - sentAt < wait { return nil }
    number += 1
    out = (number, false)
    return number
  }

  /// Records that the probe's transaction has committed, so that it must come back from now on.
  ///
  /// A probe that was taken and never sent is forgotten.
  mutating func sent(_ number: Int, now: Instant) {
    guard out?.number == number else { return }
    (out, sentAt) = ((number, true), now)
  }

  /// Records that the probe was not sent, because the server's NOTIFY queue is not being read:
  /// other notifications would not be sent either.
  mutating func notSent(_ number: Int, now: Instant) -> Change? {
    guard out?.number == number else { return nil }
    (out, sentAt, isHealthy) = (nil, now, false)
    defer { reported = .queueFull }
    return reported == .queueFull ? nil : .queueFull
  }

  /// Records that a probe came back, perhaps before its transaction was known to have committed.
  mutating func returned(_ number: Int, now: Instant) -> Change? {
    guard out?.number == number else { return nil }
    (out, sentAt, misses, isHealthy) = (nil, now, 0, true)
    defer { reported = nil }
    return reported == nil ? nil : .regained
  }

  /// Ends the wait for a probe; returns whether it has not come back.
  mutating func isOverdue(_ number: Int) -> Bool {
    guard let out, out == (number, true) else { return false }
    self.out = nil
    misses += 1
    // The next probe follows at once, to show whether the miss was an accident.
    if misses < 2 { sentAt = nil }
    isHealthy = false
    return true
  }

  /// Records that the state of the connection is known after a missed probe.
  mutating func explained() -> Change? {
    if reported == .lost || isHealthy { return nil }
    reported = .lost
    return .lost
  }

  /// Records that a connection listens; a probe must show whether notifications arrive on it.
  mutating func connected() {
    (isConnected, isHealthy, out, sentAt) = (true, false, nil, nil)
  }

  /// Records that the connection is lost.
  mutating func disconnected() {
    (isConnected, isHealthy, out) = (false, false, nil)
  }
}
