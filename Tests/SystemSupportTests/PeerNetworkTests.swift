import Glibc
import Testing

@testable import SystemSupport

@Suite struct PeerNetworkTests {
  /// Returns the network of a textual address.
  private func network(_ address: String) throws -> PeerNetwork {
    var storage = sockaddr_storage()
    let isIPv6 = address.utf8.contains(UInt8(ascii: ":"))
    storage.ss_family = sa_family_t(isIPv6 ? AF_INET6 : AF_INET)
    let isRead = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      // A port, which is ignored, followed by the address.
      unsafe bytes[2] = UInt8.random(in: 0...255)
      let start = unsafe bytes.baseAddress?.advanced(by: isIPv6 ? 8 : 4)
      return unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, address, start) == 1
    }
    try #require(isRead)
    return PeerNetwork(storage)
  }

  @Test func `an IPv4 address is a network of its own, however it comes`() throws {
    #expect(try network("192.0.2.1") == network("192.0.2.1"))
    #expect(try network("192.0.2.1") != network("192.0.2.2"))
    #expect(try network("::ffff:192.0.2.1") == network("192.0.2.1"))
    #expect(try network("::ffff:192.0.2.1") != network("::ffff:192.0.2.2"))
  }

  @Test func `IPv6 addresses below one prefix of 64 bits are one`() throws {
    #expect(try network("2001:db8:0:1::1") == network("2001:db8:0:1:ffff::2"))
    #expect(try network("2001:db8:0:1::1") != network("2001:db8:0:2::1"))
    #expect(try network("::1") != network("192.0.2.1"))
  }
}
