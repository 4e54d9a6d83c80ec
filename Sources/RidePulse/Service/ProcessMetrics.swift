import AdminServer
import Foundation

/// Metrics of this process as read from Linux, under the names that every Prometheus client uses.
enum ProcessMetrics {
  static func families() -> [MetricFamily] {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      // The command's name is in parentheses, and may contain any character.
      let end = stat.lastIndex(of: ")")
    else { return [] }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    func field(_ number: Int) -> Double {
      fields.count > number - 3 ? Double(fields[number - 3]) ?? 0 : 0
    }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let page = Double(sysconf(Int32(_SC_PAGESIZE)))
    let age = ProcessInfo.processInfo.systemUptime - field(22) / max(1, ticks)
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return [
      MetricFamily(
        .counter, "process_cpu_seconds_total", "Processor time in user and kernel mode.",
        (field(14) + field(15)) / max(1, ticks)),
      MetricFamily(
        .gauge, "process_start_time_seconds", "Start time of the process, in seconds since 1970.",
        Date().timeIntervalSince1970 - age),
      MetricFamily(
        .gauge, "process_resident_memory_bytes", "Resident memory.", field(24) * page),
      MetricFamily(
        .gauge, "process_virtual_memory_bytes", "Virtual memory.", field(23)),
      MetricFamily(.gauge, "process_threads", "Threads.", field(20)),
      MetricFamily(.gauge, "process_open_fds", "Open file descriptors.", Double(files)),
    ]
  }
}
