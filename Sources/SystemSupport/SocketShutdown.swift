internal import Glibc

/// Which directions of a connection shutdown(2) ends.
///
/// One call for all targets: `SHUT_RDWR` is visible in one file of a module whose C libraries
/// include <sys/socket.h>, and missing in the next, depending on the order of compilation.
package enum SocketShutdown: Sendable {
  /// The peer reads the end; it may still write.
  case writing
  /// Both; threads that wait for the socket return.
  case both

  /// Ends them; a socket that has no connection any more is left as it is.
  package func apply(to socket: Int32) {
    let direction: Int32 =
      switch self {
      case .writing: Int32(SHUT_WR)
      case .both: Int32(SHUT_RDWR)
      }
    _ = shutdown(socket, direction)
  }
}
