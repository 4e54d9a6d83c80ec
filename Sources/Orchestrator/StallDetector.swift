import Synchronization

/// Detects loops of the engine that are stuck, as opposed to waiting.
///
/// Every part of a turn has its own limit (a statement times out, a rest ends), so a turn that
/// exceeds all of them will never end. An unavailable database is not a stall: its turns fail.
struct StallDetector {
  enum Loop: String, CaseIterable {
    case claiming = "claim"
    case settling = "settle"
  }

  private enum Activity {
    /// An activity that ends by itself.
    case turn(since: Duration)
    /// A wait for the other loop.
    case wait(since: Duration)
    /// An activity of unknown length.
    case open
  }

  private var activities: [Loop: Activity] = [:]

  /// Records that a loop begins a turn.
  mutating func beginTurn(_ loop: Loop, at uptime: Duration) {
    activities[loop] = .turn(since: uptime)
  }

  /// Records that a loop has nothing to do until the other loop acts.
  mutating func beginWait(_ loop: Loop, at uptime: Duration) {
    activities[loop] = .wait(since: uptime)
  }

  /// Excludes a loop for now: it has ended, or its activity may take any time.
  mutating func suspend(_ loop: Loop) {
    activities[loop] = .open
  }

  /// Returns a description of each stall; empty if there is none.
  func stalls(at uptime: Duration, after limit: Duration) -> [String] {
    var problems: [String] = []
    for loop in Loop.allCases {
      guard case .turn(let since) = activities[loop], uptime - since > limit else { continue }
      let seconds = (uptime - since).components.seconds
      problems.append("\(loop.rawValue) loop stalled for \(seconds) s")
    }
    // Each loop waits for the other: no push in flight returns.
    if case .wait(let claiming) = activities[.claiming],
      case .wait(let settling) = activities[.settling],
      uptime - max(claiming, settling) > limit
    {
      problems.append("no ride in flight finishes: both loops wait for each other")
    }
    return problems
  }
}

// Stall detection; watchdog keepalives depend on it.
extension Engine {
  /// Returns a description of each stall that will not end by itself; empty if there is none.
  ///
  /// An unavailable database or APNs is not a stall.
  ///
  /// - Parameter limit: how long a turn may take; nil stands for `longestTurn`, which exceeds every
  ///   turn that will end.
  package func stalls(after limit: Duration? = nil) -> [String] {
    let uptime = time.uptime()
    return state.withLock {
      $0.stallDetector.stalls(at: uptime, after: limit ?? settings.longestTurn)
    }
  }

  /// Records that a loop begins a turn, which ends by itself.
  func beginTurn(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.stallDetector.beginTurn(loop, at: uptime) }
  }

  /// Records that a loop waits for the other loop.
  func beginWait(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.stallDetector.beginWait(loop, at: uptime) }
  }

  /// Excludes a loop from stall detection.
  func suspend(_ loop: StallDetector.Loop) {
    state.withLock { $0.stallDetector.suspend(loop) }
  }
}
