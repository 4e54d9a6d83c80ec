/// What the engine's loops are at, and since when: tells one that is stuck from one that waits.
///
/// Each turn of a loop has a limit of its own (a statement is given up, a rest ends), so a turn that
/// outlives all of them will never end. A database that is away is no such thing: its turns fail.
struct StallDetector {
  enum Loop: String, CaseIterable {
    case claiming, settling
  }

  private enum Activity {
    /// Something that ends by itself.
    case turn(since: Duration)
    /// For the other loop to do something.
    case wait(since: Duration)
    /// Something whose length nobody can know.
    case open
  }

  private var activities: [Loop: Activity] = [:]

  /// A loop begins a turn.
  mutating func turns(_ loop: Loop, at uptime: Duration) {
    activities[loop] = .turn(since: uptime)
  }

  /// A loop has nothing to do until the other has done something.
  mutating func waits(_ loop: Loop, at uptime: Duration) {
    activities[loop] = .wait(since: uptime)
  }

  /// A loop is not to be judged for now: it has ended, or does what may take any time.
  mutating func isFree(_ loop: Loop) {
    activities[loop] = .open
  }

  /// What does not move, in words; empty where all does.
  func stuck(at uptime: Duration, after limit: Duration) -> [String] {
    var problems: [String] = []
    for loop in Loop.allCases {
      guard case .turn(let since) = activities[loop], uptime - since > limit else { continue }
      let seconds = (uptime - since).components.seconds
      problems.append("\(loop.rawValue) rides has not moved for \(seconds) s")
    }
    // Each waits for the other: no push of all those in flight comes back.
    if case .wait(let claiming) = activities[.claiming],
      case .wait(let settling) = activities[.settling],
      uptime - max(claiming, settling) > limit
    {
      problems.append("no ride in flight comes to its end")
    }
    return problems
  }
}
