import Foundation
import LocalStack

/// Counts instructions and allocations with valgrind's callgrind.
struct Valgrind {
  private let tool: String
  private let program: String
  private let rules: String

  init(rules: String) throws {
    tool = try LocalBinary.path("valgrind")
    program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    self.rules = rules
  }

  /// Returns what one unit of a path costs, start-up excluded.
  func cost(of work: Work) throws -> Cost {
    let (few, many) = work.runs
    let (less, more) = (try count(work, runs: few), try count(work, runs: many))
    let units = Double((many - few) * work.units)
    return Cost(
      instructions: Double(more.instructions - less.instructions) / units,
      allocations: Double(more.allocations - less.allocations) / units)
  }

  private func count(_ work: Work, runs: Int) throws -> CallgrindProfile {
    let folder = NSTemporaryDirectory() + "ridepulse-cost-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (profile, log) = (folder + "/profile", folder + "/log")
    let line = [
      tool, "--tool=callgrind", "--callgrind-out-file=\(profile)", program, "--rules", rules,
      "--run", "\(runs)", work.rawValue,
    ]
    // An environment of its own: its length moves the stack, and Swift's hashes are random.
    let environment = [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "SWIFT_DETERMINISTIC_HASHING": "1",
    ]
    let process = try ChildProcess(
      line, environment: environment, output: .log(log), errors: .log(log))
    process.waitForEndBlocking()
    guard process.ending?.status == 0, process.ending?.isSignal == false else {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw CostFailure(text: "\(work.rawValue) failed under valgrind: \(text)")
    }
    return try CallgrindProfile(try String(contentsOfFile: profile, encoding: .utf8))
  }
}

/// The totals of a profile that callgrind wrote.
struct CallgrindProfile {
  private(set) var instructions: Int64 = 0
  private(set) var allocations: Int64 = 0

  /// Functions that return memory. One that calls another counts twice; glibc's do not.
  private static let allocators: Set<Substring> = [
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc",
  ]

  /// - Throws: `CostFailure` if the text has no total.
  init(_ text: String) throws {
    // A name is written once, as `(7) malloc`; later only `(7)`.
    var allocators: Set<Substring> = []
    var callsAllocator = false
    var total: Int64?
    for line in text.split(separator: "\n") {
      if line.hasPrefix("fn=") || line.hasPrefix("cfn=") {
        let name = line[line.index(after: line.firstIndex(of: "=") ?? line.startIndex)...]
        let words = name.split(separator: " ", maxSplits: 1)
        guard let number = words.first else { continue }
        if words.count == 2, Self.allocators.contains(words[1]) { allocators.insert(number) }
        if line.hasPrefix("c") { callsAllocator = allocators.contains(number) }
      } else if line.hasPrefix("calls="), callsAllocator {
        let count = line.dropFirst(6).prefix { $0 != " " }
        allocations += Int64(count) ?? 0
      } else if line.hasPrefix("totals:") || line.hasPrefix("summary:") {
        total = line.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
      }
    }
    guard let total else { throw CostFailure(text: "a profile of callgrind without a total") }
    instructions = total
  }
}
