import Foundation
import LocalPostgres

/// `make bench`: the figures that the project is measured by, beside their goals.
@main
enum BenchMain {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    do {
      let directory = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: directory) }
      try await ClientBench(directory: directory).run()
      try await EngineBench.measure()
      try await AgendaBench.measure()
    } catch {
      print("ridepulse-bench: \(error)")
      exit(1)
    }
  }
}

/// A measurement with servers of its own.
protocol ServerBench {
  /// Starts the servers.
  init() async throws
  /// Measures and prints.
  func run() async throws
  /// Takes the servers away.
  func end() async
}

extension ServerBench {
  /// Measures, and takes the servers away however that ended.
  static func measure() async throws {
    let bench = try await Self()
    let result: Result<Void, any Error>
    do {
      result = .success(try await bench.run())
    } catch {
      result = .failure(error)
    }
    await bench.end()
    try result.get()
  }
}
