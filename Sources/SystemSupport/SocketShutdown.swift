internal import Glibc

/// The directions of a connection that shutdown(2) ends.
///
/// All targets share this call: `SHUT_RDWR` is visible in one file of a module whose C libraries
/// include <sys/socket.h>, and missing in the next, depending on the order of compilation.
package enum SocketShutdown: Sendable {
  /// The peer reads end-of-file, and may still write.
  case writing
  /// Both directions; threads that wait for the socket return.
  case both

  /// Shuts the socket down; one that is no longer connected is left unchanged.
  package func apply(to socket: Int32) {
    let direction: Int32 =
      switch self {
      case .writing: Int32(SHUT_WR)
      case .both: Int32(SHUT_RDWR)
      }
    _ = shutdown(socket, direction)
  }
}
