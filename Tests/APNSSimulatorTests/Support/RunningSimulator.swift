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

  /// - Parameter logs: Whether the log is kept; `log()` returns it.
  init(_ words: [String] = [], directory: URL? = nil, logs: Bool = false) throws {
    let directory =
      directory
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID().uuidString)")
    self.directory = directory
    let common = ["--port", "0", "--exit-with-stdin", "--state", directory.path]
    if logs {
      let command = #"mkdir -p "$0"; exec "$@" 2> "$0/log""#
      process = try LineProcess(
        "/bin/sh", ["-c", command, directory.path, Self.binary.path] + common + words)
    } else {
      process = try LineProcess(Self.binary.path, common + ["--quiet"] + words)
    }
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

  /// Returns what has been logged so far.
  func log() throws -> String {
    try String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)
  }

  /// Returns the current records of `requests.jsonl` or another record file.
  func records(_ name: String = "requests") throws -> [[String: Any]] {
    let text = try String(
      contentsOf: directory.appendingPathComponent("\(name).jsonl"), encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }
}
