import Foundation
import Glibc
import LocalStack
import Synchronization
import TestSupport

/// A `ridepulse serve` process of one test, or another command that logs that it is serving.
final class Server {
  private let process = Process()
  private let capture: LogCapture

  /// Starts the process, and returns once it logs that it is serving, or another text.
  init(
    _ environment: [String: String], _ words: [String] = [], command: String = "serve",
    until text: String = " Serving"
  ) throws {
    let output = Pipe()
    let handle = output.fileHandleForReading
    capture = LogCapture(of: handle.fileDescriptor, until: text)
    process.executableURL = URL(fileURLWithPath: try Command.ridepulse)
    process.arguments = [command, "--log-level", "debug"] + words
    process.environment = environment
    process.standardError = output
    let capture = capture
    let isServing = DispatchSemaphore(value: 0)
    // Not by a handler of Foundation, which may crash when its pipe is closed.
    Thread.detachNewThread {
      while capture.waitForMore() {
        if capture.read() { isServing.signal() }
      }
      // Foundation keeps a process that has ended, and its pipe.
      try? handle.close()
    }
    try process.run()
    ProcessGuard.shared.hold(process.processIdentifier)
    if isServing.wait(timeout: .now() + 240) == .timedOut {
      process.terminate()
      throw TestFailure("serve did not start: \(capture.text)")
    }
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    // R60, checked for every service that any test runs, at the most verbose level.
    Secrets.expectNone(in: log)
  }

  /// The log, with all that the process has written by now.
  var log: String { capture.text }

  /// Returns a field of a log line, such as `port` of `… port=2195 …`.
  func field(_ name: String) -> String? {
    log.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix(name + "=") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  var isRunning: Bool { process.isRunning }

  /// The names of its threads, as `ps` shows them.
  var threadNames: [String] {
    let folder = "/proc/\(process.processIdentifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.compactMap { thread in
      let name = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
      return name?.trimmingCharacters(in: .newlines)
    }
  }

  /// Kills the process, like a crash.
  func kill9() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Pauses the process, like a machine during a snapshot.
  func pause() { kill(process.processIdentifier, SIGSTOP) }

  func resume() { kill(process.processIdentifier, SIGCONT) }

  /// Makes the service reload its files.
  func hangUp() { kill(process.processIdentifier, SIGHUP) }

  /// Waits until the log contains a text this many times.
  func waitForLog(_ text: String, times: Int = 1) async throws {
    try await wait(until: "the log contains \"\(text)\" \(times) times: \(log)") {
      log.components(separatedBy: text).count > times
    }
  }

  /// Stops the service; returns its exit status.
  @discardableResult func stop() -> Int32 {
    terminate()
    return exitStatus()
  }

  /// Sends SIGTERM.
  func terminate() {
    process.terminate()
  }

  /// Waits for its end; returns the exit status.
  func exitStatus() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Reads a pipe by a thread, and whenever the text is needed: on a busy machine the thread comes
  /// later than what follows from a line, such as a row in the database.
  private final class LogCapture: Sendable {
    private struct State {
      var text = ""
      var isServing = false
      var hasEnded = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32
    private let awaited: String

    init(of descriptor: Int32, until text: String) {
      self.descriptor = descriptor
      awaited = text
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    var text: String {
      _ = read()
      return state.withLock { $0.text }
    }

    /// Waits until there is more to read; returns false once all has been read.
    func waitForMore() -> Bool {
      if state.withLock({ $0.hasEnded }) { return false }
      var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&file, 1, -1)
      return true
    }

    /// Returns true once: when the log first has the awaited text, or the output ends.
    func read() -> Bool {
      state.withLock { state in
        if state.hasEnded { return false }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count = 1
        while count > 0 {
          count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
          if count > 0 { bytes += buffer[..<count] }
        }
        state.hasEnded = count == 0
        state.text += String(decoding: bytes, as: UTF8.self)
        guard !state.isServing, state.hasEnded || state.text.contains(awaited) else {
          return false
        }
        state.isServing = true
        return true
      }
    }
  }
}
