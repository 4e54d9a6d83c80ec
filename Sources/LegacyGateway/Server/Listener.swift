internal import Glibc
internal import SystemSupport

final class Listener: Sendable {
  let socket: Int32
  let port: UInt16

  /// - Parameter address: IPv4 or IPv6, in numeric form.
  init(address: String, port: UInt16) throws(GatewayError) {
    let place = "\(address) port \(port)"
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(address, String(port), &hints, &found) == 0, let info = unsafe found
    else { throw GatewayError("\(address) is not an address of this machine, as numbers") }
    defer { unsafe freeaddrinfo(found) }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    socket = unsafe Glibc.socket(info.pointee.ai_family, kind, 0)
    guard socket >= 0 else { throw .system("socket") }
    var one: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    guard unsafe bind(socket, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
      listen(socket, SOMAXCONN) == 0
    else {
      let error = GatewayError.system("can't listen on \(place)")
      close(socket)
      throw error
    }
    self.port = Self.port(of: socket) ?? port
  }

  deinit {
    close(socket)
  }

  /// Returns the socket's port, which the system chose if port 0 was requested.
  private static func port(of socket: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe getsockname(socket, generic, &length) == 0
      }
    }
    guard isKnown else { return nil }
    // In both families the port is in the two bytes after the family number.
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }

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
