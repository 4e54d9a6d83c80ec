import SystemSupport
import Testing

@testable import LegacyGateway

@Suite struct PendingHandshakesTests {
  private let one = PeerNetwork(1)
  private let other = PeerNetwork(2)
  private let third = PeerNetwork(3)

  /// Adds connections with ascending numbers, one per network given; returns those that were
  /// evicted.
  private func come(
    _ networks: [PeerNetwork], limit: Int, perNetwork: Int
  ) -> [Int] {
    var handshakes = PendingHandshakes(limit: limit, limitPerNetwork: perNetwork)
    var gone: [Int] = []
    for (number, network) in networks.enumerated() {
      if let surplus = handshakes.surplus(before: network) {
        handshakes.remove(surplus)
        gone.append(surplus)
      }
      handshakes.add(number, from: network)
    }
    return gone
  }

  @Test func `a network at its limit evicts only its own`() {
    #expect(come([other, one, one, one, one], limit: 10, perNetwork: 2) == [1, 2])
  }

  @Test func `at the total limit the oldest of the largest network is evicted`() {
    #expect(come([other, one, one, one, third], limit: 4, perNetwork: 4) == [1])
    #expect(come([one, other, third, one], limit: 3, perNetwork: 3) == [0])
    #expect(come([one, other, third, other, one, third], limit: 3, perNetwork: 3) == [0, 1, 2])
  }

  @Test func `a finished handshake does not count`() {
    var handshakes = PendingHandshakes(limit: 1, limitPerNetwork: 1)
    handshakes.add(1, from: one)
    #expect(handshakes.surplus(before: other) == 1)
    handshakes.remove(1)
    handshakes.remove(1)
    #expect(handshakes.surplus(before: one) == nil && handshakes.count == 0)
  }

  private func names(_ users: [String], _ commonNames: [String]) -> Bool {
    CertificateSubject(
      users: users.map { Array($0.utf8) }, commonNames: commonNames.map { Array($0.utf8) }
    )
    .names("com.example.app")
  }

  @Test func `a certificate is for an app by one whole name`() {
    #expect(names(["com.example.app"], ["whoever"]))
    #expect(names([], ["com.example.app"]))
    for word in ["", "Production IOS ", "Development IOS ", "Sandbox "] {
      #expect(names([], ["Apple \(word)Push Services: com.example.app"]), "\(word)")
    }
    let foreign = [
      "evilcom.example.app", "com.example.app.evil", "evil Push Services: com.example.app",
      "Push Services: com.example.app", "x Apple Push Services: com.example.app",
      "com.example.app\0.evil", "com.example.ap\u{70}\u{301}", "COM.example.app", "",
      "Apple Push Services: com.example.app ", "Apple Push Services: evil.com.example.app",
    ]
    for name in foreign {
      #expect(!names([], [name]), "CN \(name)")
      #expect(!names([name], ["com.example.app"]), "UID \(name)")
    }
    #expect(!names([], ["com.example.app", "com.example.other"]), "ambiguous")
    #expect(!names(["com.example.app", "com.example.other"], []))
    #expect(!names(["Apple Push Services: com.example.app"], []), "Apple wrote that as CN")
    #expect(!names([], []))
  }
}
