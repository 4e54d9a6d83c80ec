internal import Glibc
internal import Synchronization
internal import Dispatch
internal import SystemSupport

/// A TCP port that wakes the service: each connection is answered with one line and closed.
///
/// Input is ignored, so telnet, a crontab line or a database trigger can be the client. Clients
/// that connect while an answer is being made share the next one: many connections at one time cost
/// one check for due rides.
package final class WakePort: Sendable {
  private let socket: ListeningSocket
  private let isOver = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// The maximum number of further clients that share the first one's answer; the others wait for
  /// the next answer.
  private static let callers = 256

  /// The port that the service listens on.
  package var port: UInt16 { socket.port }

  /// - Parameter wake: checks for due rides at once; returns the line to answer with.
  /// - Throws: `ListenError`.
  package init(_ address: ListenAddress, wake: @escaping @Sendable () async -> String)
    throws(ListenError)
  {
    socket = try ListeningSocket(address)
    guard let thread = WorkerThread(named: "wake-port", { [self] in serve(wake) }) else {
      socket.close()
      throw ListenError(description: "can't serve on \(address): no thread is left")
    }
    thread.detach()
  }

  package func stop() {
    if isOver.exchange(true, ordering: .sequentiallyConsistent) { return }
    SocketShutdown.both.apply(to: socket.descriptor)
    hasEnded.wait()
    socket.close()
  }

  /// Runs on its own thread, which blocks in `accept`.
  private func serve(_ wake: @escaping @Sendable () async -> String) {
    while let first = accepted() {
      let callers = [first] + others()
      let line = Self.wait(for: wake)
      // Clients that connected in the meantime are answered by the next round.
      for caller in callers { Self.answer(caller, line) }
    }
    hasEnded.signal()
  }

  /// Returns the next client; nil once the port is closed.
  private func accepted() -> Int32? {
    while !isOver.load(ordering: .sequentiallyConsistent) {
      let caller = accept(socket.descriptor, nil, nil)
      if caller >= 0 { return caller }
      // No file descriptor or memory is available for now; the client stays in the accept queue.
      if errno == EMFILE || errno == ENFILE || errno == ENOMEM { usleep(100_000) }
    }
    return nil
  }

  /// Returns the clients that already wait behind the first one.
  private func others() -> [Int32] {
    var callers: [Int32] = []
    while callers.count < Self.callers {
      var file = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&file, 1, 0) == 1, !isOver.load(ordering: .sequentiallyConsistent) else {
        break
      }
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

  /// Sends one line, which fits into any socket's buffer: a client that does not read it delays no
  /// other client.
  private static func answer(_ caller: Int32, _ line: String) {
    let bytes = Array((line + "\n").utf8)
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    _ = unsafe send(caller, bytes, bytes.count, flags)
    // Closing a socket with unread input could discard the answer, so the input is read first.
    var words = [UInt8](repeating: 0, count: 4096)
    _ = unsafe recv(caller, &words, words.count, flags)
    SocketShutdown.writing.apply(to: caller)
    close(caller)
  }
}
