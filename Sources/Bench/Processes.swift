import Foundation
import LocalStack

/// A `ridepulse serve` process of the measurement.
final class ServiceProcess {
  /// The environment variable with the path of another `ridepulse` to measure.
  static let variable = "RIDEPULSE_BENCH_PROGRAM"

  private let process: ChildProcess

  var processID: Int32 { process.pid }

  init(conninfo: String, environment: [String: String]) throws {
    var environment = environment.merging(["DATABASE_URL": conninfo]) { own, _ in own }
    // Rules that an earlier version reads, too.
    let schedules = "RIDEPULSE_SCHEDULES"
    environment[schedules] = ProcessInfo.processInfo.environment[schedules]
    process = try ChildProcess([Self.program(), "serve"], environment: environment, errors: .pipe)
  }

  private static func program() throws -> String {
    try ProcessInfo.processInfo.environment[variable] ?? LocalBinary.path("ridepulse")
  }

  /// Applies the schema of the program that is measured.
  static func migrate(conninfo: String) throws {
    let environment = ProcessInfo.processInfo.environment
    let process = try ChildProcess(
      [program(), "migrate"], environment: environment.merging(["DATABASE_URL": conninfo]) { $1 },
      output: .null)
    process.waitForEndBlocking()
    guard process.ending?.status == 0 else { throw BenchFailure(text: "ridepulse migrate failed") }
  }

  /// Waits for the log line `Serving`.
  func waitUntilServing() throws {
    try process.waitForOutput(" Serving")
    process.discardOutput()
  }

  func stop() {
    process.send(signal: SIGTERM)
    process.waitForEndBlocking()
  }
}

/// The CPU time and memory of processes, as the kernel counts them.
enum ProcessCost {
  /// Returns the CPU seconds of a process, optionally with those of the children it has waited for.
  static func cpuSeconds(_ processID: Int32, withChildren: Bool = false) -> Double {
    guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
      // The name in parentheses may contain spaces; utime is the 12th field after it.
      let end = text.lastIndex(of: ")")
    else { return 0 }
    let fields = text[text.index(after: end)...].split(separator: " ")
    let ticks = fields[11...(withChildren ? 14 : 12)].compactMap { Double($0) }
    return ticks.reduce(0, +) / 100
  }

  /// The CPU seconds of this process.
  static var own: Double { cpuSeconds(ProcessInfo.processInfo.processIdentifier) }

  /// The CPU seconds of the children that this process has waited for.
  static var children: Double {
    cpuSeconds(ProcessInfo.processInfo.processIdentifier, withChildren: true) - own
  }

  /// Returns the CPU seconds of a server and its child processes.
  static func cpuSecondsOfTree(_ root: Int32) -> Double {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let children = processes.compactMap { Int32($0) }.filter { parent(of: $0) == root }
    return cpuSeconds(root, withChildren: true)
      + children.reduce(0) { $0 + cpuSeconds($1, withChildren: true) }
  }

  private static func parent(of processID: Int32) -> Int32? {
    let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
    guard let text, let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 1 ? Int32(fields[1]) : nil
  }

  /// The CPU time of a process's threads, and how often they waited.
  struct Threads {
    var microseconds = 0.0
    var waits = 0.0
  }

  /// Returns what the threads of a process that run now have used.
  static func threads(_ processID: Int32) -> Threads {
    let tasks = "/proc/\(processID)/task"
    var sum = Threads()
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
      let times = try? String(contentsOfFile: "\(tasks)/\(thread)/schedstat", encoding: .utf8)
      let nanoseconds = times?.split(separator: " ").first.flatMap { Double($0) }
      sum.microseconds += (nanoseconds ?? 0) / 1000
      sum.waits += number(of: "voluntary_ctxt_switches:", in: "\(tasks)/\(thread)/status")
    }
    return sum
  }

  /// Returns the resident memory in MiB.
  static func residentMiB(_ processID: Int32) -> Double {
    number(of: "VmRSS:", in: "/proc/\(processID)/status") / 1024
  }

  /// Returns a number of a file that the kernel writes, a line for each.
  private static func number(of name: String, in path: String) -> Double {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }.first ?? 0
  }
}
