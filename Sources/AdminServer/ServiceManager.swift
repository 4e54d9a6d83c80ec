import Base
internal import Glibc
internal import RideCore
internal import SystemSupport

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
  package func notify(_ notification: ServiceNotification) throws(NotifyError) {
    try socket.send(notification.text)
  }

  /// The current time of the clock that dates `ServiceNotification.reloading`, in microseconds.
  package static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}

/// A notification to a service manager, with the variables of `sd_notify(3)`.
package enum ServiceNotification: Hashable, Sendable {
  /// The service is still starting, and may take another minute; the line is what it waits for.
  case starting(String)
  /// The service is ready; the line is shown by `systemctl status`.
  case ready(String)
  /// The service has been reloading its files since this time of the monotonic clock.
  case reloading(monotonicMicroseconds: UInt64)
  /// A watchdog keepalive, with a new line for `systemctl status` if there is one.
  case alive(String?)
  /// The service accepts no more work.
  case stopping

  var text: String {
    switch self {
    case .starting(let status): "EXTEND_TIMEOUT_USEC=60000000\n" + Self.status(status)
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

package struct NotifyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of `NOTIFY_SOCKET`, and why it cannot be used.
  package var description: String
}

/// The socket of a service manager: a path, or `@` and an abstract name.
struct NotifySocket {
  private let name: String

  /// How long a manager that does not read may block the sender.
  private static let patience = timeval(tv_sec: 1, tv_usec: 0)

  init(_ name: String) {
    self.name = name
  }

  /// Each one uses a new socket: the interval between them can be half a minute, and the manager
  /// may have been replaced since the last one.
  func send(_ text: String) throws(NotifyError) {
    guard name.hasPrefix("/") || name.hasPrefix("@") else {
      throw NotifyError(description: "NOTIFY_SOCKET is \(name); expected /PATH or @NAME")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    // An abstract name begins with a zero byte, and its length is significant to the last byte.
    if name.hasPrefix("@") { bytes[0] = 0 }
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard bytes.count < room else {
      throw NotifyError(description: "NOTIFY_SOCKET is longer than \(room - 1) bytes")
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = MemoryLayout<sa_family_t>.size + bytes.count + (name.hasPrefix("/") ? 1 : 0)
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var patience = Self.patience
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let message = Array(text.utf8)
    let sent = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(
          descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
    guard sent == message.count else { throw failure() }
  }

  private func failure() -> NotifyError {
    NotifyError(description: "NOTIFY_SOCKET \(name): \(SystemError.text(errno))")
  }
}
