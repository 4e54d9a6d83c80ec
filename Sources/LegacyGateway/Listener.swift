internal import Glibc
internal import SystemSupport

/// A non-blocking listening socket that accepts connections.
final class Listener: Sendable {
  private let listening: ListeningSocket

  /// - Parameter address: IPv4 or IPv6, in numeric form.
  init(address: String, port: UInt16) throws(GatewayError) {
    do throws(ListeningSocket.Failure) {
      listening = try ListeningSocket(host: address, port: port, isNumeric: true, blocks: false)
    } catch {
      throw error.isBadHost
        ? GatewayError("\(address) is not an address of this machine, as numbers")
        : GatewayError("can't listen on \(address) port \(port): \(error.reason)")
    }
  }

  deinit { listening.close() }

  var socket: Int32 { listening.descriptor }
  var port: UInt16 { listening.port }

  enum Arrival {
    case socket(Int32, peer: String, PeerNetwork)
    case none
    /// No file descriptor is free.
    case exhausted
  }

  /// True if a connection waits to be accepted.
  var hasArrival: Bool {
    var file = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&file, 1, 0) == 1
  }

  func accept() -> Arrival {
    while true {
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let accepted = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe Glibc.accept(socket, generic, &length)
        }
      }
      if accepted >= 0 {
        Self.prepare(accepted)
        return .socket(accepted, peer: Self.text(&storage, length), PeerNetwork(ofSocket: accepted))
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOMEM, ENOBUFS: return .exhausted
      default: return .none
      }
    }
  }

  /// Enables keep-alive, so that a sender that vanished silently is detected within some minutes.
  private static func prepare(_ socket: Int32) {
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    var one: Int32 = 1
    unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    unsafe setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, 4)
    var seconds: Int32 = 60
    unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE, &seconds, 4)
  }

  private static func text(_ storage: inout sockaddr_storage, _ length: socklen_t) -> String {
    var host = [CChar](repeating: 0, count: 64)
    let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe getnameinfo(
          generic, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
      }
    }
    guard isKnown else { return "unknown" }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
