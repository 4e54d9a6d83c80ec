internal import Glibc

/// The service manager that started this process, where it wants to hear how the service is.
///
/// That is systemd's protocol, `sd_notify(3)`: a datagram for each piece of news. It needs no library.
package struct ServiceManager: Sendable {
  private let socket: NotifySocket
  /// How often its watchdog wants a sign of life; nil where it has none.
  package let watchdog: Duration?

  /// The one that the environment names in `NOTIFY_SOCKET`; nil where it names none.
  package init?(_ environment: [String: String]) {
    guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
    socket = NotifySocket(name)
    watchdog = WatchdogInterval.read(environment, processID: getpid())
  }

  /// Tells it; a manager that does not read holds this up for a second at most.
  package func notify(_ news: ServiceNews) throws(NotifyError) {
    try socket.send(news.text)
  }

  /// The clock by which `ServiceNews.reloading` is dated.
  package static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
