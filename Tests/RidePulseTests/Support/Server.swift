import Foundation
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
    capture = LogCapture(until: text)
    process.executableURL = URL(fileURLWithPath: try Command.ridepulse)
    process.arguments = [command, "--log-level", "debug"] + words
    process.environment = environment
    let output = Pipe()
    process.standardError = output
    let capture = capture
    let isServing = DispatchSemaphore(value: 0)
    let handle = output.fileHandleForReading
    // Not by a handler of Foundation, which may crash when its pipe is closed.
    Thread.detachNewThread {
      while true {
        let data = handle.availableData
        if capture.add(data) { isServing.signal() }
        if data.isEmpty { break }
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

  /// The log so far.
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

  private final class LogCapture: Sendable {
    private let state = Mutex((text: "", isServing: false))
    private let awaited: String

    init(until text: String) {
      awaited = text
    }

    var text: String { state.withLock { $0.text } }

    /// Returns true once: when the log first has the awaited text, or the output ends.
    func add(_ data: Data) -> Bool {
      state.withLock { state in
        state.text += String(decoding: data, as: UTF8.self)
        guard !state.isServing, data.isEmpty || state.text.contains(awaited) else {
          return false
        }
        state.isServing = true
        return true
      }
    }
  }
}
