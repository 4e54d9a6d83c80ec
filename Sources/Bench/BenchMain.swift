import Foundation
import RideCore

/// `make bench`: prints the project's figures next to their goals; arguments select parts.
@main
enum BenchMain {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    do {
      let directory = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let words = CommandLine.arguments.dropFirst()
      let known = ["client", "engine", "agenda", "backlog", "attach", "search", "bloat"]
      if let word = words.first(where: { !known.contains($0) }) {
        print("ridepulse-bench: unknown part \(word); expected \(known.joined(separator: ", "))")
        exit(64)
      }
      // The last two parts, search and bloat, take minutes and run only on request.
      let parts = words.isEmpty ? Array(known.dropLast(2)) : Array(words)
      if isatty(STDERR_FILENO) == 1 {
        let text = "measuring \(parts.joined(separator: ", ")): this takes minutes\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      }
      if parts.contains("client") { try await ClientBench(directory: directory).run() }
      if parts.contains("engine") { try await EngineBench.measure() }
      if parts.contains("agenda") { try await AgendaBench.measure() }
      if parts.contains("backlog") { try await BacklogBench.measure() }
      if parts.contains("attach") { try await AttachBench.measure() }
      if parts.contains("search") { try await SearchBench.measure() }
      if parts.contains("bloat") { try await BloatBench.measure() }
    } catch {
      print("ridepulse-bench: \(error)")
      exit(1)
    }
  }
}

/// A failure of the measurement itself.
struct BenchFailure: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// A measurement with its own servers.
protocol ServerBench {
  /// Starts the servers.
  init() async throws
  /// Measures and prints.
  func run() async throws
  /// Stops the servers.
  func end() async
}

extension ServerBench {
  /// Measures, and stops the servers even if the measurement fails.
  static func measure() async throws {
    let bench = try await Self()
    try await withCleanup({ await bench.end() }) { try await bench.run() }
  }
}

/// Prints figures next to their goals.
enum Figures {
  static func head(_ text: String) {
    print("\n" + text)
  }

  static func row(_ name: String, _ figure: String, goal: String = "") {
    let padded = name.padding(toLength: 44, withPad: " ", startingAt: 0)
    let value = figure.padding(toLength: 18, withPad: " ", startingAt: 0)
    print("  \(padded)\(value)\(goal.isEmpty ? "" : "goal \(goal)")")
  }

  static func number(_ value: Double, _ digits: Int = 1) -> String {
    value.formatted(.number.precision(.fractionLength(digits)).grouping(.automatic))
  }
}
