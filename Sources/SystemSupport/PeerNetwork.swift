internal import Glibc

/// The network that a connection comes from, as the unit of limits for each peer.
///
/// It is an IPv4 address, or the 64-bit prefix of an IPv6 address, since one host has all addresses
/// below it.
package struct PeerNetwork: Hashable, Sendable {
  private let bits: UInt64

  /// Creates the network of a number, for tests.
  package init(_ bits: UInt64) {
    self.bits = bits
  }

  /// Creates the network of a connected socket's peer. All peers that are not IP, or are
  /// disconnected, share one network.
  package init(ofSocket socket: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getpeername(socket, $0, &length) == 0
      }
    }
    self = isKnown ? PeerNetwork(storage) : PeerNetwork(0)
  }

  init(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET: bits = Self.ofIPv4(storage)
    case AF_INET6: bits = Self.ofIPv6(storage)
    default: bits = 0
    }
  }

  private static func ofIPv4(_ storage: sockaddr_storage) -> UInt64 {
    var storage = storage
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      // The address follows family and port.
      unsafe number(bytes[4..<8])
    }
  }

  private static func ofIPv6(_ storage: sockaddr_storage) -> UInt64 {
    var storage = storage
    return unsafe withUnsafeBytes(of: &storage) { bytes in
      // The address follows family, port and flow label, and has 16 bytes.
      let isMapped =
        unsafe bytes[8..<18].allSatisfy { $0 == 0 } && bytes[18..<20].allSatisfy { $0 == 0xff }
      // An IPv4 peer of a socket that listens on both protocols.
      return unsafe isMapped ? number(bytes[20..<24]) : number(bytes[8..<16])
    }
  }

  private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    unsafe bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
