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
      let engine = try await EngineBench()
      let result: Result<Void, any Error>
      do {
        result = .success(try await engine.run())
      } catch {
        result = .failure(error)
      }
      await engine.end()
      try result.get()
    } catch {
      print("ridepulse-bench: \(error)")
      exit(1)
    }
  }
}
