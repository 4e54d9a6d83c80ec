import Foundation
import LocalPostgres

/// Runs a process to its end.
enum Command {
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  /// The path of this build's binary.
  static var ridepulse: String {
    get throws { try LocalBinary.path("ridepulse") }
  }

  /// Runs `ridepulse` with only the given environment.
  static func ridepulse(
    _ words: [String], _ environment: [String: String] = [:], in directory: String? = nil
  ) throws -> Result {
    try run(try ridepulse, words, environment, in: directory)
  }

  static func run(
    _ path: String, _ words: [String], _ environment: [String: String] = [:],
    in directory: String? = nil
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = words
    process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    // Files instead of pipes: a full pipe that is not read would block the process.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let errors = try String(contentsOf: files[1], encoding: .utf8)
    Secrets.expectNone(in: errors)
    return Result(
      status: process.terminationStatus, output: try String(contentsOf: files[0], encoding: .utf8),
      errors: errors)
  }
}

/// A condition without which a test cannot continue.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
