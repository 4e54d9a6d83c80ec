/// Decides which failures of a loop are logged: a new cause at once, then at distances that double.
///
/// A value without a clock. A loop that fails and succeeds by turns is logged no more often.
package struct FailurePace<Cause: Hashable & Sendable>: Sendable {
  /// The first distance between two log lines of one cause, and how long a loop must succeed until
  /// its next failure is new.
  package static var first: Duration { .seconds(60) }
  package static var longest: Duration { .seconds(3600) }
  /// The causes that are told apart; texts that differ each time count as one after these.
  package static var causes: Int { 8 }

  private struct Logged {
    var at: Duration
    var distance: Duration
  }

  /// The last line of each cause; nil stands for all further causes.
  private var logged: [Cause?: Logged] = [:]
  private var endedAt: Duration?
  /// Whether a failure was logged whose end was not.
  private var hasOpenLine = false

  package init() {}

  /// Records that the loop failed; returns whether to log it.
  package mutating func failed(_ cause: Cause, at uptime: Duration) -> Bool {
    forgetIfOver(at: uptime)
    endedAt = nil
    let isOwn = logged[cause] != nil || logged.count < Self.causes
    let key = isOwn ? cause : nil
    var distance = Self.first
    if let last = logged[key] {
      if uptime - last.at < last.distance { return false }
      distance = min(last.distance * 2, Self.longest)
    }
    logged[key] = Logged(at: uptime, distance: distance)
    hasOpenLine = true
    return true
  }

  /// Records that the loop succeeded; returns whether to log it.
  package mutating func succeeded(at uptime: Duration) -> Bool {
    if logged.isEmpty { return false }
    endedAt = endedAt ?? uptime
    forgetIfOver(at: uptime)
    defer { hasOpenLine = false }
    return hasOpenLine
  }

  private mutating func forgetIfOver(at uptime: Duration) {
    guard let endedAt, uptime - endedAt >= Self.first else { return }
    logged = [:]
  }
}
