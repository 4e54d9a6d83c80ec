internal import Synchronization

/// Messages from any thread to one thread that waits in `poll`.
package final class Inbox<Message: Sendable>: Sendable {
  private let wake: EventFD
  private let messages = Mutex<[Message]>([])

  /// Returns nil if the process has no file descriptor left.
  package init?() {
    guard let wake = EventFD() else { return nil }
    self.wake = wake
  }

  /// The file descriptor to poll for reading.
  package var descriptor: Int32 { wake.descriptor }

  package func put(_ message: Message) {
    let isFirst = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if isFirst { wake.signal() }
  }

  /// Returns and removes all messages; for the receiving thread.
  package func collect() -> [Message] {
    // Signals are discarded before the messages are taken: a message put in between signals again.
    wake.clear()
    return messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}
