import AdminServer
import RideCore

/// What a watchdog is told at each beat, and the log beside it.
struct WatchdogKeepalive {
  struct Step {
    /// Nil where the watchdog is to run out.
    var news: ServiceNews?
    var log: Line?
  }

  struct Line {
    var level: Log.Level
    var message: StaticString
    var fields: KeyValuePairs<String, String>
  }

  /// What `systemctl status` shows while nothing is wrong.
  static let status = "serving"

  private var wasStuck = false
  private var shown = WatchdogKeepalive.status

  /// - Parameters:
  ///   - stuck: What will never move again. Only an end and a new start help: the beat stays away.
  ///   - troubles: What hinders the service from outside, as a database that is away does. A new
  ///     start would not bring that back: the beat goes on, and says it.
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
