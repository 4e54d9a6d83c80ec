internal import RideCore

/// A notification to a service manager, with the variables of `sd_notify(3)`.
package enum ServiceNews: Hashable, Sendable {
  /// The service is ready; the line is shown by `systemctl status`.
  case ready(String)
  /// The service has been reloading its files since this time of the monotonic clock.
  case reloading(monotonicMicroseconds: UInt64)
  /// A watchdog keepalive, with a new line for `systemctl status` if there is one.
  case alive(String?)
  /// The service accepts no more work.
  case stopping

  /// The content of the datagram.
  var text: String {
    switch self {
    case .ready(let status): "READY=1\n" + Self.status(status)
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    case .alive(let status): "WATCHDOG=1" + (status.map { "\n" + Self.status($0) } ?? "")
    case .stopping: "STOPPING=1"
    }
  }

  /// Joins lines: a second line would be parsed as another variable.
  private static func status(_ text: String) -> String {
    "STATUS=" + Escape.line(text.split(whereSeparator: \.isNewline).joined(separator: "; "))
  }
}

/// Reads the watchdog interval from the environment that systemd sets.
enum WatchdogInterval {
  /// Returns half the limit, as `sd_watchdog_enabled(3)` advises; nil if this process has no
  /// watchdog.
  static func read(_ environment: [String: String], processID: Int32) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 1
    else { return nil }
    // Child processes inherit the variables, which do not apply to them.
    if let text = environment["WATCHDOG_PID"], Int32(text) != processID { return nil }
    return .microseconds(microseconds / 2)
  }
}
