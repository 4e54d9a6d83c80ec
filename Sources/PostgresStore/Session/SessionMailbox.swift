internal import Synchronization

/// The only thing that callers and the session's thread share.
final class SessionMailbox: Sendable {
  /// What has come since the thread last looked.
  struct Message: Sendable {
    var runs: [Transaction] = []
    /// Finish by this moment.
    var closeBy: ContinuousClock.Instant?
  }

  private struct Contents {
    var message = Message()
    var isRung = false
    var isClosing = false
    var hasEnded = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  let wakeup = EventFD()
  private let contents = Mutex(Contents())

  /// Hands a run to the thread; false where the session takes no more.
  func submit(_ run: Transaction) -> Bool {
    let accepted = contents.withLock { contents in
      guard !contents.isClosing else { return false }
      contents.message.runs.append(run)
      return true
    }
    if accepted { ring() }
    return accepted
  }

  func requestClose(by moment: ContinuousClock.Instant) {
    contents.withLock { contents in
      contents.isClosing = true
      contents.message.closeBy = min(contents.message.closeBy ?? moment, moment)
    }
    ring()
  }

  /// Returns when the thread has done its last act.
  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let hasEnded = contents.withLock { contents in
        if !contents.hasEnded { contents.closers.append(continuation) }
        return contents.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Empties the box; for the thread.
  func collect() -> Message {
    contents.withLock { contents in
      if contents.isRung { wakeup.answer() }
      contents.isRung = false
      defer { contents.message = Message() }
      return contents.message
    }
  }

  /// Says that the thread is at its end; returns what nobody will look at any more.
  func end() -> [Transaction] {
    let (runs, closers) = contents.withLock { contents in
      contents.isClosing = true
      contents.hasEnded = true
      defer { (contents.message, contents.closers) = (Message(), []) }
      return (contents.message.runs, contents.closers)
    }
    for closer in closers { closer.resume() }
    return runs
  }

  /// One system call for any number of submissions between two looks.
  private func ring() {
    contents.withLock { contents in
      if !contents.isRung { wakeup.ring() }
      contents.isRung = true
    }
  }
}
