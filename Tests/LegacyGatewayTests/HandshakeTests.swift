import Foundation
import LegacyGateway
import TestSupport
import Testing

/// Handshakes that are never completed.
@Suite(.timeLimit(.minutes(60))) struct HandshakeTests {
  private func push(_ identifier: Int) -> String {
    "send:"
      + FrameBuilder.push(identifier).map { String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
  }

  /// A client that holds handshakes open and replaces each one that is closed.
  private final class Flood {
    private let process: LineProcess

    init(_ port: UInt16, count: Int, from addresses: [String]) throws {
      let script = Project.path("Tests/LegacyGatewayTests/Client/flood.py")
      process = try LineProcess(
        "/usr/bin/python3", [script, "\(port)", "\(count)"] + addresses)
      #expect(process.firstLine == "held")
    }

    func end() { process.stop() }
  }

  @Test(arguments: [["127.0.0.2"], ["127.0.0.2", "127.0.0.3", "127.0.0.4"]])
  func `a flood of handshakes neither blocks nor drops senders`(addresses: [String]) async throws {
    try await GatewayFixture.run { fixture in
      // A sender that is connected before the flood, and silent during it.
      async let early = fixture.client(push(1), "quiet:8000", push(2), "quiet:300")
      try await fixture.until { fixture.store.taken == [1] }
      let flood = try Flood(fixture.server.port, count: 600, from: addresses)
      defer { flood.end() }
      for number in 3..<8 {
        #expect(try await fixture.client(push(number), "quiet:300") == ["quiet"])
        try await fixture.until { fixture.store.taken.contains(UInt32(number)) }
      }
      #expect(try await early == ["quiet", "quiet"])
      try await fixture.until { fixture.store.taken.contains(2) }
      // A flood is reported as a number, not line by line.
      #expect(fixture.events.all.contains { $0.contains("handshakesEvicted") })
      #expect(fixture.events.all.count < 1000, "\(fixture.events.all.suffix(5))")
    }
  }

  @Test func `a handshake that trickles in still ends at its time limit`() async throws {
    try await GatewayFixture.run({ $0.handshakeTime = .milliseconds(500) }) { fixture in
      let drip = "drip:" + String(repeating: "16", count: 4000) + ":20"
      let start = String("16030140000100".prefix(14))
      let output = try await fixture.client("tcp", "send:\(start)", drip)
      #expect(output.first?.hasPrefix("error") ?? false, "\(output)")
      try await fixture.until { fixture.events.all.contains { $0.contains("took too long") } }
    }
  }
}
