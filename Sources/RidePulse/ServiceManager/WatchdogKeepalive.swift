import AdminServer
import RideCore

/// Decides what is sent to the watchdog at each interval, and what is logged.
struct WatchdogKeepalive {
  struct Step {
    /// Nil if the watchdog shall expire.
    var news: ServiceNews?
    var log: Line?
  }

  struct Line {
    var level: Log.Level
    var message: StaticString
    var fields: KeyValuePairs<String, String>
  }

  /// The text that `systemctl status` shows while nothing is wrong.
  static let status = "serving"

  private var wasStuck = false
  private var shown = WatchdogKeepalive.status

  /// Returns the next notification and log line.
  ///
  /// - Parameters:
  ///   - stuck: The parts that will never continue. Only a restart helps, so no keepalive is sent.
  ///   - problems: External problems, such as an unreachable database. A restart would not fix
  ///     them, so the keepalive continues and reports them.
  mutating func next(stuck: [String], problems: [String]) -> Step {
    defer { wasStuck = !stuck.isEmpty }
    if !stuck.isEmpty {
      let line = Line(
        level: .error, message: "The service is stuck: the watchdog is told no more",
        fields: ["reason": stuck.joined(separator: "; ")])
      return Step(news: nil, log: wasStuck ? nil : line)
    }
    let text = problems.isEmpty ? Self.status : problems.joined(separator: "; ")
    let isNew = text != shown
    shown = text
    return Step(
      news: .alive(isNew ? text : nil),
      log: wasStuck ? Line(level: .info, message: "The service moves again", fields: [:]) : nil)
  }
}
