import Foundation
import Testing

/// Runs the built binary in a temporary directory.
///
/// It ends when its standard input closes, so it can't outlive the test run.
final class RunningSimulator {
  let directory: URL
  let readyLine: String
  let port: Int
  private let process = Process()
  private let input = Pipe()

  static let binary = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("apns-simulator")

  init(_ words: [String] = [], directory: URL? = nil) throws {
    let directory =
      directory
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID().uuidString)")
    self.directory = directory
    let output = Pipe()
    process.executableURL = Self.binary
    process.arguments =
      ["--port", "0", "--exit-with-stdin", "--quiet", "--state", directory.path] + words
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    readyLine = try Self.firstLine(output.fileHandleForReading)
    let portText = readyLine.split(separator: ":").last?.split(separator: " ").first
    port = try #require(portText.flatMap { Int($0) })
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: directory)
  }

  @discardableResult
  func stop() -> Int32 {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }

  func terminate() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private static func firstLine(_ handle: FileHandle) throws -> String {
    var line = Data()
    while let byte = try handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
      line += byte
    }
    return String(decoding: line, as: UTF8.self)
  }

  var keyPath: String { directory.appendingPathComponent("AuthKey_SIMKEY0001.p8").path }
  var authorityPath: String { directory.appendingPathComponent("ca.pem").path }

  /// Returns the current records of `requests.jsonl` or another record file.
  func records(_ name: String = "requests") throws -> [[String: Any]] {
    let text = try String(
      contentsOf: directory.appendingPathComponent("\(name).jsonl"), encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }
}
