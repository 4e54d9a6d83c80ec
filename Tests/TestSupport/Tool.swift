package import Foundation

/// A process that has ended.
package struct Tool: Sendable {
  package let status: Int32
  package let output: String
  package let errors: String

  /// Runs a process to its end, blocking this thread.
  ///
  /// - Parameter environment: Nil passes on the environment of the tests.
  package static func run(
    _ path: String, _ arguments: [String], environment: [String: String]? = nil,
    in directory: String? = nil, input: Data = Data()
  ) throws -> Tool {
    let (process, files) = try prepare(path, arguments, environment, directory, input)
    defer { ScratchFolder.remove(files.folder) }
    try process.run()
    files.close()
    process.waitUntilExit()
    return try Tool(process, files)
  }

  /// Runs a process to its end without blocking a thread.
  package static func runAsync(
    _ path: String, _ arguments: [String], environment: [String: String]? = nil,
    in directory: String? = nil
  ) async throws -> Tool {
    let (process, files) = try prepare(path, arguments, environment, directory, Data())
    defer { ScratchFolder.remove(files.folder) }
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
      files.close()
    }
    return try Tool(process, files)
  }

  private init(_ process: Process, _ files: Files) throws {
    status = process.terminationStatus
    output = String(decoding: try Data(contentsOf: files.output), as: UTF8.self)
    errors = String(decoding: try Data(contentsOf: files.errors), as: UTF8.self)
  }

  /// Files instead of pipes: a full pipe that is not read would block the process, and the end of a
  /// pipe may stay open in another test's process.
  private struct Files {
    let folder: String
    /// Closed after the start: Foundation keeps a process that has ended, with its files.
    var given: [FileHandle] = []
    var input: URL { URL(fileURLWithPath: folder + "/input") }
    var output: URL { URL(fileURLWithPath: folder + "/output") }
    var errors: URL { URL(fileURLWithPath: folder + "/errors") }

    func close() {
      for file in given { try? file.close() }
    }
  }

  private static func prepare(
    _ path: String, _ arguments: [String], _ environment: [String: String]?,
    _ directory: String?, _ input: Data
  ) throws -> (Process, Files) {
    var files = Files(folder: try ScratchFolder.create("tool"))
    try input.write(to: files.input)
    for file in [files.output, files.errors] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if let environment { process.environment = environment }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    files.given = [
      try FileHandle(forReadingFrom: files.input), try FileHandle(forWritingTo: files.output),
      try FileHandle(forWritingTo: files.errors),
    ]
    process.standardInput = files.given[0]
    process.standardOutput = files.given[1]
    process.standardError = files.given[2]
    return (process, files)
  }
}
