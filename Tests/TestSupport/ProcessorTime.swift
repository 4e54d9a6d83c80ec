import Foundation
import Synchronization

/// The time that all processors together have spent since the machine started, in ticks.
package struct ProcessorTime: Equatable, Sendable {
  var idle = 0.0
  var all = 0.0

  /// Reads the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
  package init?(stat text: String) {
    guard let line = text.split(separator: "\n").first, line.hasPrefix("cpu ") else { return nil }
    let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
    guard ticks.count == 8 else { return nil }
    (idle, all) = (ticks[3] + ticks[4], ticks.reduce(0, +))
  }

  /// Returns the share of idle processors between two reads; 0 if no time has passed.
  package func idleShare(since before: ProcessorTime) -> Double {
    all > before.all ? (idle - before.idle) / (all - before.all) : 0
  }

  /// Returns a function that gives the share of idle processors since its last call; 0 at first, and
  /// where that is not known.
  package static func meter() -> @Sendable () -> Double {
    let last = LastRead()
    return { hasAllProcessors ? last.next() : 0 }
  }

  /// Whether no container limits this process: `/proc/stat` has the times of the whole machine.
  private static let hasAllProcessors: Bool = {
    let quota = try? String(contentsOfFile: "/sys/fs/cgroup/cpu.max", encoding: .utf8)
    let machine = ProcessInfo.processInfo
    return quota?.hasPrefix("max") ?? true
      && machine.activeProcessorCount == machine.processorCount
  }()

  private final class LastRead: Sendable {
    private let last = Mutex<ProcessorTime?>(nil)

    func next() -> Double {
      let now = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)).flatMap(
        ProcessorTime.init(stat:))
      return last.withLock { last in
        defer { last = now }
        guard let now, let before = last else { return 0 }
        return now.idleShare(since: before)
      }
    }
  }
}
