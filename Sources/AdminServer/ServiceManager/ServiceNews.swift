internal import RideCore

/// What a service manager is told, in the words of `sd_notify(3)`.
package enum ServiceNews: Hashable, Sendable {
  /// It serves; the line is what `systemctl status` shows.
  case ready(String)
  /// It reads its files anew, since that many microseconds of the monotonic clock.
  case reloading(monotonicMicroseconds: UInt64)
  /// It moves; with a line for `systemctl status` where there is a new one.
  case alive(String?)
  /// It takes no more work.
  case stopping

  /// The datagram.
  var text: String {
    switch self {
    case .ready(let status): "READY=1\n" + Self.status(status)
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    case .alive(let status): "WATCHDOG=1" + (status.map { "\n" + Self.status($0) } ?? "")
    case .stopping: "STOPPING=1"
    }
  }

  /// A second line would be an assignment of its own.
  private static func status(_ text: String) -> String {
    "STATUS=" + Escape.line(text.split(whereSeparator: \.isNewline).joined(separator: "; "))
  }
}

/// How often a watchdog wants to hear something, by the environment that systemd gives.
enum WatchdogInterval {
  /// Half the limit, as `sd_watchdog_enabled(3)` advises; nil where nobody watches this process.
  static func read(_ environment: [String: String], processID: Int32) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 1
    else { return nil }
    // Children inherit the variables; they are not meant.
    if let text = environment["WATCHDOG_PID"], Int32(text) != processID { return nil }
    return .microseconds(microseconds / 2)
  }
}
