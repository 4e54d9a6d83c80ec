import Foundation
import TestSupport
import Testing

/// Runs the built binary in a temporary directory.
final class RunningSimulator {
  let directory: URL
  let readyLine: String
  let port: Int
  private let process: LineProcess

  static let binary = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("apns-simulator")

  init(_ words: [String] = [], directory: URL? = nil) throws {
    let directory =
      directory
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID().uuidString)")
    self.directory = directory
    process = try LineProcess(
      Self.binary.path,
      ["--port", "0", "--exit-with-stdin", "--quiet", "--state", directory.path] + words)
    readyLine = process.firstLine
    let portText = readyLine.split(separator: ":").last?.split(separator: " ").first
    port = try #require(portText.flatMap { Int($0) })
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: directory)
  }

  @discardableResult
  func stop() -> Int32 { process.stop() }

  func terminate() -> Int32 { process.terminate() }

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
