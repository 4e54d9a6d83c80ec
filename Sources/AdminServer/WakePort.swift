internal import Glibc
internal import Synchronization
internal import Dispatch
internal import SystemSupport

/// A TCP port that wakes the service: whoever connects is answered with one line, and that is all.
///
/// Nothing is read, so a telnet, a line of a crontab or a database trigger will do. All that come
/// while an answer is being made get the same one: many pokes at once cost one look.
package final class WakePort: Sendable {
  private let socket: ListenSocket
  private let isOver = Mutex(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// More than this many callers at once are closed without an answer.
  private static let callers = 256

  /// Where it listens.
  package var port: UInt16 { socket.port }

  /// Listens from now on.
  ///
  /// - Parameter wake: looks for due rides at once; returns the line to answer with.
  /// - Throws: `ListenError`.
  package init(_ address: ListenAddress, wake: @escaping @Sendable () async -> String)
    throws(ListenError)
  {
    socket = try ListenSocket(address)
    let thread = DispatchQueue(label: "wake-port", attributes: [], target: nil)
    thread.async { [self] in serve(wake) }
  }

  /// Answers no more.
  package func stop() {
    let wasOver = isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
    if wasOver { return }
    SocketShutdown.both.apply(to: socket.descriptor)
    hasEnded.wait()
    close(socket.descriptor)
  }

  /// On a thread of its own, which sleeps in `accept`.
  private func serve(_ wake: @escaping @Sendable () async -> String) {
    while let first = accepted() {
      let callers = [first] + others()
      let line = Self.wait(for: wake)
      // Those that came meanwhile are answered by the look that is yet to come.
      for caller in callers { Self.answer(caller, line) }
    }
    hasEnded.signal()
  }

  /// The next caller; nil when the port is closed.
  private func accepted() -> Int32? {
    while !isOver.withLock({ $0 }) {
      let caller = accept(socket.descriptor, nil, nil)
      if caller >= 0 { return caller }
      // Out of files for a moment: whoever called is still in the queue.
      if errno == EMFILE || errno == ENFILE || errno == ENOMEM { usleep(100_000) }
    }
    return nil
  }

  /// Those who wait behind the first one.
  private func others() -> [Int32] {
    var callers: [Int32] = []
    while callers.count < Self.callers {
      var file = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&file, 1, 0) == 1, !isOver.withLock({ $0 }) else { break }
      let caller = accept(socket.descriptor, nil, nil)
      guard caller >= 0 else { break }
      callers.append(caller)
    }
    return callers
  }

  private static func wait(for wake: @escaping @Sendable () async -> String) -> String {
    let line = Mutex("")
    let isThere = DispatchSemaphore(value: 0)
    Task {
      let text = await wake()
      line.withLock { $0 = text }
      isThere.signal()
    }
    isThere.wait()
    return line.withLock { $0 }
  }

  /// A line fits into any socket's buffer: who does not read it holds up nobody.
  private static func answer(_ caller: Int32, _ line: String) {
    let bytes = Array((line + "\n").utf8)
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    _ = unsafe send(caller, bytes, bytes.count, flags)
    // A connection that is closed over unread words takes the answer along.
    var words = [UInt8](repeating: 0, count: 4096)
    _ = unsafe recv(caller, &words, words.count, flags)
    SocketShutdown.writing.apply(to: caller)
    close(caller)
  }
}
