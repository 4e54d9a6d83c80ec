/// Whether notifications reach this node: now and then it sends one to itself, which must come back.
/// A state machine without a clock.
///
/// LISTEN may be lost without a word: a pooler takes it and gives the server's connection to
/// somebody else, or the connection is dead and nobody said so.
struct NotifyHealthCheck: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// What somebody should be told.
  enum News: Equatable { case lost, queueFull, regained }

  /// How often one is sent, at most.
  static let period: Duration = .seconds(5)
  /// The same where one after another did not come back.
  static let longPeriod: Duration = .seconds(60)
  /// How long one may be on its way.
  static let limit: Duration = .seconds(2)

  /// The last one came back, over the connection that there is.
  private(set) var isHealthy = false
  private var isConnected = false
  /// What was reported last, until LISTEN works again.
  private var reported: News?
  private var misses = 0
  private var number = 0
  /// The one on its way, and whether the transaction that sends it is known to have committed.
  private var out: (number: Int, isSent: Bool)?
  private var sentAt: Instant?

  /// The number of one to send now; nil where it is not time.
  mutating func take(now: Instant) -> Int? {
    guard isConnected else { return nil }
    if let out, out.isSent { return nil }
    let wait = misses < 2 ? Self.period : Self.longPeriod
    if let sentAt, now - sentAt < wait { return nil }
    number += 1
    out = (number, false)
    return number
  }

  /// Its transaction has committed, so that it must come back from now on. One that was taken and
  /// never sent is forgotten.
  mutating func sent(_ number: Int, now: Instant) {
    guard out?.number == number else { return }
    (out, sentAt) = ((number, true), now)
  }

  /// It was not sent, because the server's NOTIFY queue is not read: neither would others be.
  mutating func withheld(_ number: Int, now: Instant) -> News? {
    guard out?.number == number else { return nil }
    (out, sentAt, isHealthy) = (nil, now, false)
    defer { reported = .queueFull }
    return reported == .queueFull ? nil : .queueFull
  }

  /// One has come back; perhaps before anybody knew that it was sent.
  mutating func returned(_ number: Int, now: Instant) -> News? {
    guard out?.number == number else { return nil }
    (out, sentAt, misses, isHealthy) = (nil, now, 0, true)
    defer { reported = nil }
    return reported == nil ? nil : .regained
  }

  /// The time of one is up; true where it has not come back.
  mutating func isOverdue(_ number: Int) -> Bool {
    guard let out, out == (number, true) else { return false }
    self.out = nil
    misses += 1
    // The next one is to say at once whether it was an accident.
    if misses < 2 { sentAt = nil }
    isHealthy = false
    return true
  }

  /// It is known by now how the connection does of which one did not come back.
  mutating func explained() -> News? {
    if reported == .lost || isHealthy { return nil }
    reported = .lost
    return .lost
  }

  /// A connection that listens is there; whether it hears must be seen.
  mutating func connected() {
    (isConnected, isHealthy, out, sentAt) = (true, false, nil, nil)
  }

  /// There is no connection.
  mutating func disconnected() {
    (isConnected, isHealthy, out) = (false, false, nil)
  }
}
