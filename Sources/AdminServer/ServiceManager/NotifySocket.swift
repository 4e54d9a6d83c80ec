internal import Glibc
internal import SystemSupport

/// The error of a service manager that cannot be notified.
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

  /// Sends a datagram.
  ///
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
