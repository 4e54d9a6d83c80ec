internal import Glibc

/// The address that a server listens on: `127.0.0.1:9464`, `[::1]:9464`, `localhost:0` (any free
/// port).
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name or an IP address, without brackets.
  package var host: String
  /// The port; 0 stands for any free port.
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Parses `HOST:PORT`; returns nil for any other form.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    if host.isEmpty { return nil }
    self.init(host: String(host), port: port)
  }

  /// Whether only this machine can reach the address.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    // A host name may begin with 127 and still resolve to any address.
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  /// The address in the form that `init(_:)` parses.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The error of a server that cannot listen on its address.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The address, the reason, and what to do.
  package var description: String
}

struct ListenSocket {
  let descriptor: Int32
  /// The given port, or the free port that was chosen.
  let port: UInt16

  /// Binds to the first address that works.
  ///
  /// - Throws: `ListenError` if no address can be bound.
  init(_ address: ListenAddress) throws(ListenError) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_PASSIVE
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let failure = unsafe getaddrinfo(address.host, String(address.port), &hints, &found)
    guard failure == 0, let first = unsafe found else {
      let why = unsafe gai_strerror(failure).map { unsafe String(cString: $0) } ?? "\(failure)"
      throw ListenError(description: "can't listen on \(address): \(why)")
    }
    defer { unsafe freeaddrinfo(first) }
    var why = "no such address"
    var next: UnsafeMutablePointer<addrinfo>? = unsafe first
    while let info = unsafe next {
      if let descriptor = unsafe Self.listening(info.pointee, &why) {
        self.descriptor = descriptor
        port = Self.port(of: descriptor) ?? address.port
        return
      }
      unsafe next = info.pointee.ai_next
    }
    throw ListenError(description: "can't listen on \(address): \(why)")
  }

  private static func listening(_ info: addrinfo, _ why: inout String) -> Int32? {
    let type = unsafe info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = unsafe socket(info.ai_family, type, info.ai_protocol)
    var yes: Int32 = 1
    if descriptor >= 0,
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
      unsafe bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 128) == 0
    {
      return descriptor
    }
    why = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    if descriptor >= 0 { close(descriptor) }
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
    // The port is at the same offset in both address families.
    return unsafe withUnsafePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe UInt16(bigEndian: $0.pointee.sin_port)
      }
    }
  }
}
