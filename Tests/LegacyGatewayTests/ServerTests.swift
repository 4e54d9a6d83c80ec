import Foundation
import LegacyGateway
import RideCore
import Testing

@Suite("The gateway and its senders") struct ServerTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func send(_ frames: [UInt8]...) -> String { "send:" + hex(frames.flatMap { $0 }) }

  private func packet(_ status: Int, _ identifier: Int) -> String {
    hex([8, UInt8(status)] + FrameBuilder.number(identifier))
  }

  private static let bad = [UInt8](repeating: 0xba, count: 32)
  private static let badHex = String(repeating: "ba", count: 32)

  @Test func `a valid frame is committed without an answer`() async throws {
    try await GatewayFixture.run { fixture in
      let output = try await fixture.client(
        send(FrameBuilder.push(1), FrameBuilder.simple()), send(FrameBuilder.enhanced(3)),
        "quiet:200")
      #expect(output == ["quiet"])
      try await fixture.until { fixture.store.taken == [1, nil, 3] }
    }
  }

  @Test func `a bad frame is answered, and later frames are dropped`() async throws {
    try await GatewayFixture.run { fixture in
      let short = FrameBuilder.push(3, token: Array(FrameBuilder.token.dropLast()))
      let frames = send(FrameBuilder.push(1), FrameBuilder.push(2), short, FrameBuilder.push(4))
      let output = try await fixture.client(frames, "read:7")
      #expect(output == [packet(5, 3) + " end"])
      #expect(fixture.store.taken == [1, 2])
    }
  }

  @Test func `the error packet arrives although the sender keeps writing`() async throws {
    try await GatewayFixture.run { fixture in
      let rest = (5..<20).flatMap { FrameBuilder.push($0) }
      let output = try await fixture.client(
        send(FrameBuilder.push(1), [9]), "sleep:500", "flood:\(hex(rest)):300000", "sleep:200",
        "flood:\(hex(rest)):300000", "read:7")
      #expect(output.last == packet(255, 0) + " end", "\(output)")
      #expect(fixture.store.taken == [1])
    }
  }

  @Test func `a disabled token gets status 8 at once`() async throws {
    try await GatewayFixture.run { fixture in
      fixture.store.change { $0.disabled = [Self.badHex] }
      let frames = send(
        FrameBuilder.push(1), FrameBuilder.push(2, token: Self.bad), FrameBuilder.push(3))
      let output = try await fixture.client(frames, "read:7")
      #expect(output == [packet(8, 2) + " end"])
      #expect(fixture.store.taken == [1])
    }
  }

  @Test func `after APNs refuses tokens, the first one gets status 8`()
    async throws
  {
    try await GatewayFixture.run { fixture in
      fixture.store.change { $0.bad = [Self.badHex] }
      let frames = send(
        FrameBuilder.push(1), FrameBuilder.push(2, token: Self.bad),
        FrameBuilder.push(3, token: Self.bad), FrameBuilder.push(4))
      let output = try await fixture.client(frames, "read:7")
      #expect(output == [packet(8, 2) + " end"])
      #expect(fixture.store.taken == [1, 2, 3, 4])
    }
  }

  @Test func `without a database, status 10 names the last committed push`() async throws {
    try await GatewayFixture.run({ $0.outageLimit = .milliseconds(700) }) { fixture in
      fixture.store.change { $0.isAwayAfter = 2 }
      let output = try await fixture.client(
        send(FrameBuilder.push(1), FrameBuilder.push(2)), "quiet:300",
        send(FrameBuilder.push(3), FrameBuilder.push(4)), "read:7")
      #expect(output == ["quiet", packet(10, 2) + " end"])
      #expect(fixture.store.taken == [1, 2])
    }
  }

  @Test
  func `a short outage closes no connection and loses no push, even of a disconnected sender`()
    async throws
  {
    try await GatewayFixture.run({ $0.outageLimit = .seconds(600) }) { fixture in
      fixture.store.change { $0.isAwayAfter = 0 }
      _ = try await fixture.client(send(FrameBuilder.push(1), FrameBuilder.simple()))
      async let other = fixture.client(send(FrameBuilder.push(3)), "quiet:2000")
      try await fixture.until { fixture.store.failures > 2 }
      fixture.store.change { $0.isAwayAfter = .max }
      try await fixture.until { fixture.store.taken.count == 3 }
      #expect(try await other == ["quiet"])
      #expect(fixture.store.identities == 3)
      #expect(fixture.events.all.filter { $0.contains("be committed") }.count == 1)
    }
  }

  @Test func `a stop commits the frames read and returns the last committed identifier`()
    async throws
  {
    try await GatewayFixture.run { fixture in
      async let silent = fixture.client(send(FrameBuilder.push(9)), "read:7")
      try await fixture.until { fixture.store.taken == [9] }
      fixture.store.change { $0.isHeld = true }
      async let output = fixture.client(send(FrameBuilder.push(1), FrameBuilder.push(2)), "read:7")
      try await fixture.until { fixture.store.asked == 3 }
      fixture.server.stop()
      fixture.store.change { $0.isHeld = false }
      let last = try await (output, silent)
      #expect(last.0 == [packet(10, 2) + " end"])
      #expect(last.1 == [packet(10, 9) + " end"])
      #expect(fixture.store.taken == [9, 1, 2])
    }
  }

  @Test func `a sender that disconnects loses no complete frame`() async throws {
    try await GatewayFixture.run { fixture in
      _ = try await fixture.client(
        send(FrameBuilder.push(1), Array(FrameBuilder.push(2).dropLast())))
      try await fixture.until { fixture.store.taken == [1] }
      let output = try await fixture.client(send(FrameBuilder.push(3)), "quiet:100", "reset")
      #expect(output == ["quiet"])
      try await fixture.until { fixture.store.taken == [1, 3] }
    }
  }

  @Test(arguments: [
    "0000ff", "02ffffffff", "0200001401", "01000000070000000000200a", "474554202f20485454502f31",
  ])
  func `a hostile length closes only its own connection`(bytes: String) async throws {
    try await GatewayFixture.run { fixture in
      async let other = fixture.client(
        send(FrameBuilder.push(1)), "quiet:500", send(FrameBuilder.push(2)), "quiet:200")
      let output = try await fixture.client("send:" + bytes, "flood:00:100", "read:7")
      let last = output.last ?? ""
      let isAnswered = last.hasPrefix("08") && last.hasSuffix(" end")
      // The fourth frame ends after its token, and the rest never arrives.
      #expect(isAnswered || bytes.hasPrefix("01"), "\(output)")
      #expect(try await other == ["quiet", "quiet"])
      try await fixture.until { fixture.store.taken == [1, 2] }
    }
  }

  @Test func `an incomplete frame is dropped at its time limit`() async throws {
    try await GatewayFixture.run({ $0.patience = .seconds(4) }) { fixture in
      let half = "send:" + hex(Array(FrameBuilder.push(1).prefix(40)))
      async let dripping = fixture.client("drip:\(hex(FrameBuilder.push(2))):200", "read:1")
      async let halved = fixture.client(half, "read:1")
      async let silent = fixture.client("tcp", "read:1")
      async let nothing = fixture.client("quiet:8000", send(FrameBuilder.push(4)), "quiet:300")
      let good = try await fixture.client(send(FrameBuilder.push(3)), "quiet:200")
      #expect(good == ["quiet"])
      #expect(try await halved == [" end"])
      #expect(try await silent == [" end"])
      let drip = try await dripping
      #expect(drip == [" end"] || drip.first?.hasPrefix("error") == true, "\(drip)")
      // A sender without an incomplete frame may be silent without limit.
      #expect(try await nothing == ["quiet", "quiet"])
      try await fixture.until { fixture.store.taken == [3, 4] }
    }
  }

  @Test func `while the database does not answer, no more is read from a sender`() async throws {
    try await GatewayFixture.run { fixture in
      fixture.store.change { $0.isHeld = true }
      let block = hex((0..<100).flatMap { FrameBuilder.push($0) })
      let output = try await fixture.client("flood:\(block):50000000", "reset")
      let bytes = output.first.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
      // Only what fits into the buffers of two sockets, not everything the client tried to send.
      let written = try #require(bytes)
      #expect(written < 20_000_000, "\(output)")
      fixture.store.change { $0.isHeld = false }
    }
  }

  @Test func `at the connection limit the sender that was silent for longest is dropped`()
    async throws
  {
    let change: (inout GatewaySettings) -> Void = {
      $0.connectionLimit = 2
      $0.idleLimit = .milliseconds(500)
    }
    try await GatewayFixture.run(change) { fixture in
      async let first = fixture.client(send(FrameBuilder.push(1)), "read:1")
      async let second = fixture.client(send(FrameBuilder.push(2)), "read:1")
      try await fixture.until { fixture.store.taken.count == 2 }
      let third = try await fixture.client(send(FrameBuilder.push(3)), "quiet:100")
      #expect(third == ["quiet"])
      try await fixture.until { fixture.store.taken.contains(3) }
      let events = fixture.events.all
      #expect(events.contains { $0.contains("evicted: idle longest") }, "\(events)")
      fixture.server.stop()
      _ = try await (first, second)
    }
  }

  @Test func `no event contains a token or a payload`() async throws {
    try await GatewayFixture.run { fixture in
      fixture.store.change { $0.bad = [Self.badHex] }
      _ = try await fixture.client(send(FrameBuilder.push(1, token: Self.bad)), "read:7")
      _ = try await fixture.client("tcp", "send:" + hex(FrameBuilder.push(1)), "read:1")
      try await fixture.until { fixture.events.all.count >= 2 }
      let text = fixture.events.all.joined()
      #expect(!text.contains("baba") && !text.contains("alert"), "\(text)")
    }
  }
}
