import Foundation
import Synchronization

/// A helper process that prints lines and ends when its standard input closes, so it cannot outlive
/// the test run.
package final class LineProcess: Sendable {
  /// The first line that it printed, with which it reports that it is ready.
  package let firstLine: String
  /// The lines after the first one; they can be iterated once.
  package let lines: AsyncStream<String>
  private let process: Process
  private let input: Pipe
  private let output: Output

  /// Starts a process and waits for its first line.
  package init(_ path: String, _ arguments: [String]) throws {
    let (process, input, pipe, output) = (Process(), Pipe(), Pipe(), Output())
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = pipe
    try process.run()
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread { output.read(handle) }
    guard let firstLine = output.first(within: 240) else {
      try? input.fileHandleForWriting.close()
      process.terminate()
      throw TestFailure("\(path) \(arguments) did not start")
    }
    self.firstLine = firstLine
    self.process = process
    self.input = input
    self.output = output
    lines = output.stream
  }

  deinit {
    try? input.fileHandleForWriting.close()
  }

  /// All lines printed so far, with the first one.
  package var printed: [String] { output.printed }

  /// Closes its standard input and waits for its end; returns the exit status.
  @discardableResult package func stop() -> Int32 {
    closeInput()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Writes a line to its standard input.
  package func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  package func closeInput() {
    try? input.fileHandleForWriting.close()
  }

  /// Sends SIGTERM and waits for its end; returns the exit status.
  package func terminate() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private final class Output: Sendable {
    private let state = Mutex<[String]>([])
    private let hasFirst = DispatchSemaphore(value: 0)
    private let continuation: AsyncStream<String>.Continuation
    let stream: AsyncStream<String>

    init() {
      (stream, continuation) = AsyncStream.makeStream(of: String.self)
    }

    var printed: [String] { state.withLock { $0 } }

    func first(within seconds: Double) -> String? {
      _ = hasFirst.wait(timeout: .now() + seconds)
      return printed.first
    }

    func read(_ handle: FileHandle) {
      var rest = Data()
      while true {
        let data = handle.availableData
        guard !data.isEmpty else { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          add(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      // Foundation keeps a process that has ended, and its pipes.
      try? handle.close()
      continuation.finish()
      hasFirst.signal()
    }

    private func add(_ line: String) {
      let isFirst = state.withLock { lines in
        lines.append(line)
        return lines.count == 1
      }
      if isFirst { hasFirst.signal() } else { continuation.yield(line) }
    }
  }
}
