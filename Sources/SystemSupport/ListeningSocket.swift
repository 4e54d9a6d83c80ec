internal import Glibc

/// A listening TCP socket; its descriptor is closed with the last reference.
package struct ListeningSocket: Sendable {
  /// Why a socket can't listen.
  package struct Failure: Error, Hashable, Sendable {
    /// True if the host could not be resolved.
    package let isBadHost: Bool
    /// The system's text, such as `Address already in use`.
    package let reason: String

    package init(isBadHost: Bool, reason: String) {
      self.isBadHost = isBadHost
      self.reason = reason
    }
  }

  package let descriptor: Int32
  /// The given port, or the free port that the system chose for port 0.
  package let port: UInt16

  /// Binds to the first address of the host that works, and listens.
  ///
  /// - Parameters:
  ///   - isNumeric: True if the host must be an IP address, so that no name is looked up.
  ///   - blocks: False if `accept` must return at once.
  package init(
    host: String, port: UInt16, isNumeric: Bool = false, blocks: Bool = true
  ) throws(Failure) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags =
      isNumeric ? AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE : AI_PASSIVE
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let failure = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard failure == 0, let first = unsafe found else {
      let reason = unsafe gai_strerror(failure).map { unsafe String(cString: $0) } ?? "\(failure)"
      throw Failure(isBadHost: true, reason: reason)
    }
    defer { unsafe freeaddrinfo(first) }
    var reason = "no such address"
    var next: UnsafeMutablePointer<addrinfo>? = unsafe first
    while let info = unsafe next {
      if let descriptor = unsafe Self.listening(info.pointee, blocks: blocks) {
        self.descriptor = descriptor
        self.port = Self.port(of: descriptor) ?? port
        return
      }
      reason = SystemError.text(errno)
      unsafe next = info.pointee.ai_next
    }
    throw Failure(isBadHost: false, reason: reason)
  }

  /// Returns nil with the reason in `errno`.
  private static func listening(_ info: addrinfo, blocks: Bool) -> Int32? {
    let flags = SOCK_CLOEXEC.rawValue | (blocks ? 0 : SOCK_NONBLOCK.rawValue)
    let descriptor = unsafe socket(
      info.ai_family, info.ai_socktype | Int32(flags), info.ai_protocol)
    if descriptor < 0 { return nil }
    var yes: Int32 = 1
    if unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
      unsafe bind(descriptor, info.ai_addr, info.ai_addrlen) == 0,
      listen(descriptor, SOMAXCONN) == 0
    {
      return descriptor
    }
    let reason = errno
    Glibc.close(descriptor)
    errno = reason
    return nil
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isKnown else { return nil }
    // In both address families the port is in the two bytes after the family number.
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }

  package func close() {
    Glibc.close(descriptor)
  }
}
