import Foundation
import LocalStack

/// One run of h2load, nghttp2's load generator in C.
struct H2Load {
  /// Microseconds of its CPU for a push.
  let cost: Double
  /// Pushes a second.
  let rate: Double

  /// Runs it to its end.
  ///
  /// - Throws: `BenchFailure` if a push is refused, because a refusal costs less.
  init(pushes: Int, _ options: [String]) throws {
    let log = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString).h2load"
    defer { try? FileManager.default.removeItem(atPath: log) }
    let (cpu, start) = (ProcessCost.children, Date())
    let process = try ChildProcess(
      ["/usr/bin/h2load", "-n", "\(pushes)"] + options, output: .log(log))
    process.waitForEndBlocking()
    let (seconds, used) = (Date().timeIntervalSince(start), ProcessCost.children - cpu)
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    guard process.ending?.status == 0, text.contains("status codes: \(pushes) 2xx") else {
      throw BenchFailure(text: "h2load did not get \(pushes) pushes accepted: \(text)")
    }
    guard used > 0 else { throw BenchFailure(text: "the kernel counted no CPU time for h2load") }
    cost = used * 1e6 / Double(pushes)
    rate = Double(pushes) / seconds
  }
}
