import Synchronization

// Whether the loops still move: what a watchdog is told by.
extension Engine {
  /// Loops that will not move again, in words; empty where all is well. A database or an APNs that is
  /// away is none of it.
  ///
  /// - Parameter limit: how long a turn may take; nil: longer than any turn that will end.
  package func stuck(after limit: Duration? = nil) -> [String] {
    let uptime = time.uptime()
    return state.withLock {
      $0.watch.stuck(at: uptime, after: limit ?? settings.longestTurn)
    }
  }

  /// A loop begins something that ends by itself.
  func turns(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.watch.turns(loop, at: uptime) }
  }

  /// A loop waits for the other.
  func waits(_ loop: StallDetector.Loop) {
    let uptime = time.uptime()
    state.withLock { $0.watch.waits(loop, at: uptime) }
  }

  /// A loop is not to be judged.
  func isFree(_ loop: StallDetector.Loop) {
    state.withLock { $0.watch.isFree(loop) }
  }
}
