internal import Foundation
internal import Glibc
internal import Synchronization

/// A child process whose end can be awaited without blocking.
package final class ChildProcess: Sendable {
  /// The source of the input, or the destination of the output.
  package enum Stream: Sendable {
    case inherited
    /// `/dev/null`.
    case null
    /// A pipe to this process; of output and errors, only one can be a pipe.
    case pipe
    /// A file to which output is appended.
    case log(String)
    /// A descriptor, which this process closes after the start.
    case descriptor(Int32)
  }

  package struct Ending: Sendable {
    /// The exit status, or the number of the signal.
    package let status: Int32
    package let isSignal: Bool
  }

  package let pid: Int32
  private let program: String
  private let input: Pipe?
  private let output: Pipe?
  private let life = Life()

  /// Starts a program, with the caller's environment if none is given.
  package init(
    _ line: [String], in folder: String? = nil, environment: [String: String]? = nil,
    input: Stream = .null, output: Stream = .inherited, errors: Stream = .inherited
  ) throws(LocalStackError) {
    program = line.first ?? ""
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = Array(line.dropFirst())
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    if let environment { process.environment = environment }
    let channels = (try Channel(input), try Channel(output), try Channel(errors))
    if let input = channels.0.object { process.standardInput = input }
    if let output = channels.1.object { process.standardOutput = output }
    if let errors = channels.2.object { process.standardError = errors }
    process.terminationHandler = { [life] process in
      life.finish(
        Ending(
          status: process.terminationStatus,
          isSignal: process.terminationReason == .uncaughtSignal))
    }
    do {
      try process.run()
    } catch {
      throw .failed(program: program, output: "\(error)")
    }
    // Foundation keeps a process that has ended, with its files and pipes.
    for channel in [channels.0, channels.1, channels.2] { try? channel.file?.close() }
    pid = process.processIdentifier
    self.input = channels.0.pipe
    self.output = channels.1.pipe ?? channels.2.pipe
  }

  deinit {
    closeInput()
    try? output?.fileHandleForReading.close()
  }

  /// Starts a program of Postgres, which writes its output to a log file.
  ///
  /// The environment is its own, so that the caller's `PG*` variables do not reach it.
  package static func logged(
    _ line: [String], in folder: String, to log: String
  ) throws(LocalStackError) -> ChildProcess {
    try ChildProcess(
      line, in: folder, environment: bareEnvironment, output: .log(log), errors: .log(log))
  }

  package static let bareEnvironment = [
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC",
  ]

  /// Nil while the process runs.
  package var ending: Ending? { life.ending }

  package var isRunning: Bool { ending == nil }

  @discardableResult package func waitForEnd() async -> Ending { await life.wait() }

  /// Waits as `waitForEnd` does, and blocks the thread meanwhile.
  package func waitForEndBlocking() { life.waitBlocking() }

  /// Sends a signal; does nothing if the process has ended, since its ID may be reused.
  package func send(signal: Int32) {
    life.whileRunning { _ = kill(pid, signal) }
  }

  package func write(_ text: String) {
    try? input?.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  package func closeInput() {
    try? input?.fileHandleForWriting.close()
  }

  /// Reads the pipe until its output contains a text, and returns all that was read.
  ///
  /// It does not wait for the end of the pipe, which a child of the process may keep open.
  @discardableResult package func waitForOutput(
    _ text: String
  ) throws(LocalStackError) -> String {
    var received = Data()
    while let more = output?.fileHandleForReading.availableData, !more.isEmpty {
      received += more
      let all = String(decoding: received, as: UTF8.self)
      if all.contains(text) { return all }
    }
    throw .failed(program: program, output: String(decoding: received, as: UTF8.self))
  }

  /// Discards all further output, so that a full pipe does not block the process.
  package func discardOutput() {
    Thread.detachNewThread { [self] in
      while let more = output?.fileHandleForReading.availableData, !more.isEmpty {}
    }
  }

  /// A stream in the form that Foundation expects; nil to inherit it.
  private struct Channel {
    var pipe: Pipe?
    var file: FileHandle?

    var object: Any? { pipe ?? file }

    init(_ stream: Stream) throws(LocalStackError) {
      switch stream {
      case .inherited: break
      case .null: file = FileHandle.nullDevice
      case .pipe: pipe = Pipe()
      case .log(let path): file = try LogFile.open(path)
      case .descriptor(let file): self.file = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      }
    }
  }

  private final class Life: Sendable {
    private struct State {
      var ending: Ending?
      var waiters: [CheckedContinuation<Ending, Never>] = []
    }

    private let state = Mutex(State())
    private let end = DispatchSemaphore(value: 0)

    var ending: Ending? { state.withLock { $0.ending } }

    func whileRunning(_ body: () -> Void) {
      state.withLock { if $0.ending == nil { body() } }
    }

    func finish(_ ending: Ending) {
      let waiters = state.withLock { state in
        state.ending = ending
        defer { state.waiters = [] }
        return state.waiters
      }
      end.signal()
      for waiter in waiters { waiter.resume(returning: ending) }
    }

    func wait() async -> Ending {
      await withCheckedContinuation { continuation in
        let ending = state.withLock { state in
          if state.ending == nil { state.waiters.append(continuation) }
          return state.ending
        }
        if let ending { continuation.resume(returning: ending) }
      }
    }

    func waitBlocking() {
      end.wait()
      // For the next one that waits.
      end.signal()
    }
  }
}

/// Runs blocking work off the threads that Swift's tasks share.
package enum Blocking {
  package static func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do throws(Failure) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  }
}

package enum LogFile {
  /// Opens a file so that each write appends, whichever process writes.
  static func open(_ path: String) throws(LocalStackError) -> FileHandle {
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw .directory(reason: "\(path) cannot be written") }
    return FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }

  /// Returns the last lines joined to one line, for an error message.
  package static func tail(_ path: String) -> String {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(5).joined(separator: " | ")
  }
}
