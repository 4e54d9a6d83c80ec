internal import Glibc

/// The service manager that started this process, if it expects notifications.
///
/// Implements systemd's protocol, `sd_notify(3)`: one datagram per notification. It needs no
/// library.
package struct ServiceManager: Sendable {
  private let socket: NotifySocket
  /// The interval of watchdog keepalives; nil if no watchdog is configured.
  package let watchdog: Duration?

  /// Returns the manager that the environment names in `NOTIFY_SOCKET`; nil if it names none.
  package init?(_ environment: [String: String]) {
    guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
    socket = NotifySocket(name)
    watchdog = WatchdogInterval.read(environment, processID: getpid())
  }

  /// Sends a notification; a manager that does not read blocks this call for at most one second.
  package func notify(_ news: ServiceNews) throws(NotifyError) {
    try socket.send(news.text)
  }

  /// The current time of the clock that dates `ServiceNews.reloading`, in microseconds.
  package static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
