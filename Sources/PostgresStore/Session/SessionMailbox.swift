internal import CLibpq
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// The only state that callers share with the session's thread.
final class SessionMailbox: Sendable {
  /// What was submitted since the thread last collected.
  struct Message: Sendable {
    var transactions: [Transaction] = []
    /// The moment by which the session must finish.
    var closeBy: ContinuousClock.Instant?
  }

  private struct Contents {
    var message = Message()
    var isAwake = false
    var isClosing = false
    var hasEnded = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  private let wakeup: EventFD
  private let contents = Mutex(Contents())

  /// Returns nil if the process has no file descriptor left.
  init?() {
    guard let wakeup = EventFD() else { return nil }
    self.wakeup = wakeup
  }

  /// The file descriptor that the thread polls for reading.
  var descriptor: Int32 { wakeup.descriptor }

  /// Submits a transaction to the thread; returns false if the session accepts no more.
  func submit(_ transaction: Transaction) -> Bool {
    let accepted = contents.withLock { contents in
      guard !contents.isClosing else { return false }
      contents.message.transactions.append(transaction)
      return true
    }
    if accepted { wake() }
    return accepted
  }

  func requestClose(by moment: ContinuousClock.Instant) {
    contents.withLock { contents in
      contents.isClosing = true
      contents.message.closeBy = min(contents.message.closeBy ?? moment, moment)
    }
    wake()
  }

  /// Waits until the thread has ended.
  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let hasEnded = contents.withLock { contents in
        if !contents.hasEnded { contents.closers.append(continuation) }
        return contents.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Returns and removes the contents; called by the thread.
  func collect() -> Message {
    contents.withLock { contents in
      if contents.isAwake { wakeup.clear() }
      contents.isAwake = false
      defer { contents.message = Message() }
      return contents.message
    }
  }

  /// Records that the thread has ended; returns the transactions that it will never handle.
  func end() -> [Transaction] {
    let (transactions, closers) = contents.withLock { contents in
      contents.isClosing = true
      contents.hasEnded = true
      defer { (contents.message, contents.closers) = (Message(), []) }
      return (contents.message.transactions, contents.closers)
    }
    for closer in closers { closer.resume() }
    return transactions
  }

  /// Wakes the thread, with one system call for any number of submissions between two collections.
  private func wake() {
    contents.withLock { contents in
      if !contents.isAwake { wakeup.signal() }
      contents.isAwake = true
    }
  }
}
