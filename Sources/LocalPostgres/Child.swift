internal import Foundation
internal import Glibc
internal import Synchronization

/// A child process whose end can be awaited without blocking.
final class Child: Sendable {
  private struct Life {
    var status: Int32?
    var waiters: [CheckedContinuation<Int32, Never>] = []
  }

  private final class Record: Sendable {
    let life = Mutex(Life())
  }

  let pid: Int32
  private let record = Record()

  /// Starts a program with its own environment, so that the caller's `PG*` variables do not reach
  /// it. Output goes to `output`; errors too, unless `keepsErrors` is false.
  init(
    _ line: [String], in folder: String, input: FileHandle? = nil, output: FileHandle? = nil,
    keepsErrors: Bool = true
  ) throws(LocalPostgresError) {
    guard let program = line.first else {
      throw .failed(program: "nothing", output: "an empty command")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = Array(line.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC"]
    process.standardInput = input ?? FileHandle.nullDevice
    process.standardOutput = output ?? FileHandle.nullDevice
    process.standardError = keepsErrors ? output ?? FileHandle.nullDevice : FileHandle.nullDevice
    process.terminationHandler = { [record] in Self.end(record, status: $0.terminationStatus) }
    do {
      try process.run()
    } catch {
      throw .failed(program: program, output: "\(error)")
    }
    pid = process.processIdentifier
  }

  var hasEnded: Bool { record.life.withLock { $0.status != nil } }

  /// Returns the exit status, or the signal that ended the process.
  func waitForEnd() async -> Int32 {
    await withCheckedContinuation { continuation in
      let status = record.life.withLock { life in
        if life.status == nil { life.waiters.append(continuation) }
        return life.status
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  /// Sends a signal; does nothing if the process has ended, since its ID may be reused.
  func send(signal: Int32) {
    record.life.withLock { life in
      if life.status == nil { _ = kill(pid, signal) }
    }
  }

  private static func end(_ record: Record, status: Int32) {
    let waiters = record.life.withLock { life in
      life.status = status
      defer { life.waiters = [] }
      return life.waiters
    }
    for waiter in waiters { waiter.resume(returning: status) }
  }
}
