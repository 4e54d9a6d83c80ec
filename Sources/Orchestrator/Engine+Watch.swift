import Synchronization

// Stall detection; watchdog keepalives depend on it.
extension Engine {
  /// Returns a description of each stall that will not end by itself; empty if there is none.
  ///
  /// An unavailable database or APNs is not a stall.
  ///
  /// - Parameter limit: how long a turn may take; nil stands for `longestTurn`, which exceeds every
  ///   turn that will end.
  package func stuck(after limit: Duration? = nil) -> [String] {
    let uptime = time.uptime()
    return state.withLock {
      $0.watch.stuck(at: uptime, after: limit ?? settings.longestTurn)
    }
  }

  /// Records that a loop begins a turn, which ends by itself.
  func turns(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.watch.turns(loop, at: uptime) }
  }

  /// Records that a loop waits for the other loop.
  func waits(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.watch.waits(loop, at: uptime) }
  }

  /// Excludes a loop from stall detection.
  func isFree(_ loop: StallDetector.Loop) {
    state.withLock { $0.watch.isFree(loop) }
  }
}
