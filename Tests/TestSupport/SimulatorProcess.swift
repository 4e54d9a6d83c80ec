package import Foundation

/// Runs a built simulator in a temporary directory.
package final class SimulatorProcess {
  package let directory: URL
  package let readyLine: String
  package let port: Int
  private let process: LineProcess

  package static func binary(_ name: String) -> URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(name)
  }

  /// - Parameter logs: Whether the log is kept; `log()` returns it.
  package init(
    _ name: String, _ words: [String] = [], directory: URL? = nil, logs: Bool = false
  ) throws {
    let binary = Self.binary(name)
    let directory =
      directory
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID().uuidString)")
    self.directory = directory
    let common = ["--port", "0", "--exit-with-stdin", "--state", directory.path]
    if logs {
      let command = #"mkdir -p "$0"; exec "$@" 2> "$0/log""#
      process = try LineProcess(
        "/bin/sh", ["-c", command, directory.path, binary.path] + common + words)
    } else {
      process = try LineProcess(binary.path, common + ["--quiet"] + words)
    }
    readyLine = process.firstLine
    let portText = readyLine.split(separator: ":").last?.split(separator: " ").first
    guard let port = portText.flatMap({ Int($0) }) else {
      throw TestFailure("\(name) printed \(readyLine)")
    }
    self.port = port
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: directory)
  }

  @discardableResult
  package func stop() -> Int32 { process.stop() }

  package func terminate() -> Int32 { process.terminate() }

  /// The lines that it printed so far.
  package var printed: [String] { process.printed }

  package var authorityPath: String { directory.appendingPathComponent("ca.pem").path }

  /// Returns what has been logged so far.
  package func log() throws -> String {
    try String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)
  }

  /// Returns the current records of `requests.jsonl` or another record file.
  package func records(_ name: String = "requests") throws -> [[String: Any]] {
    let text = try String(
      contentsOf: directory.appendingPathComponent("\(name).jsonl"), encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      else { throw TestFailure("\(name).jsonl has \(line)") }
      return record
    }
  }
}
