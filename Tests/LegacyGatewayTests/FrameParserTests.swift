import LegacyGateway
import RideCore
import Testing

@Suite("Frames of the old protocol") struct FrameParserTests {
  private static let text = String(decoding: FrameBuilder.payload, as: UTF8.self)

  private func steps(_ bytes: [UInt8]) -> [FrameParser.Step] {
    var parser = FrameParser(app: .customer)
    parser.append(bytes)
    var steps: [FrameParser.Step] = []
    while true {
      let step = parser.next()
      if step == .more { return steps }
      steps.append(step)
      if case .refused = step { return steps }
    }
  }

  private func push(
    _ identifier: UInt32?, expiration: UInt32? = 0, priority: PushPriority = .immediate
  ) throws -> LegacyPush {
    LegacyPush(
      app: .customer, token: try #require(DeviceToken(String(repeating: "c1", count: 32))),
      payload: Self.text, expiration: expiration, priority: priority, identifier: identifier)
  }

  @Test func `command 2 with all its items`() throws {
    let bytes = FrameBuilder.push(7, expiration: 1_800_000_000, priority: 5)
    #expect(
      steps(bytes) == [.push(try push(7, expiration: 1_800_000_000, priority: .powerAware))])
  }

  @Test func `command 2 with the two that it must have, in any order`() throws {
    let bytes = FrameBuilder.frame(
      FrameBuilder.item(2, FrameBuilder.payload), FrameBuilder.item(1, FrameBuilder.token))
    #expect(steps(bytes) == [.push(try push(nil, expiration: nil))])
  }

  @Test func `command 0 and command 1`() throws {
    #expect(steps(FrameBuilder.simple()) == [.push(try push(nil, expiration: nil))])
    #expect(steps(FrameBuilder.enhanced(9, expiration: 77)) == [.push(try push(9, expiration: 77))])
  }

  @Test func `a stream of all three, in whatever pieces it comes`() throws {
    let bytes =
      FrameBuilder.push(1) + FrameBuilder.simple() + FrameBuilder.enhanced(3) + FrameBuilder.push(4)
    let whole = steps(bytes)
    #expect(whole.count == 4)
    for size in [1, 2, 3, 7, 60, 61, 100] {
      var parser = FrameParser(app: .customer)
      var found: [FrameParser.Step] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        parser.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while case .push(let push) = parser.next() { found.append(.push(push)) }
      }
      #expect(found == whole, "pieces of \(size)")
      #expect(!parser.hasPart)
    }
  }

  /// The mistake, the bytes, the status and the identifier.
  private static let mistakes: [(String, [UInt8], ErrorPacket.Status, UInt32)] = [
    ("no such command", [3, 0, 0, 0], .unknown, 0),
    ("an HTTP client", Array("POST /3/device HTTP/1.1".utf8), .unknown, 0),
    ("an empty frame", FrameBuilder.frame(), .missingToken, 0),
    (
      "no token", FrameBuilder.frame(FrameBuilder.item(2, FrameBuilder.payload), id), .missingToken,
      7
    ),
    ("an empty token", FrameBuilder.push(7, token: []), .missingToken, 7),
    (
      "a token of 31 bytes", FrameBuilder.push(7, token: Array(FrameBuilder.token.dropLast())),
      .tokenSize, 7
    ),
    ("a token of 33 bytes", FrameBuilder.push(7, token: FrameBuilder.token + [1]), .tokenSize, 7),
    (
      "no payload", FrameBuilder.frame(FrameBuilder.item(1, FrameBuilder.token), id),
      .missingPayload, 7
    ),
    ("an empty payload", FrameBuilder.push(7, payload: []), .missingPayload, 7),
    ("a payload of 4097 bytes", FrameBuilder.push(7, payload: text(4097)), .payloadSize, 7),
    ("no JSON", FrameBuilder.push(7, payload: Array("hello".utf8)), .processing, 7),
    ("an array", FrameBuilder.push(7, payload: Array("[1]".utf8)), .processing, 7),
    (
      "no UTF-8",
      FrameBuilder.push(7, payload: Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8)),
      .processing, 7
    ),
    (
      "UTF-16", FrameBuilder.push(7, payload: "{\"a\":1}".utf16.flatMap { [UInt8($0), 0] }),
      .processing, 7
    ),
    ("a priority of 7", FrameBuilder.push(7, priority: 7), .processing, 7),
    (
      "two tokens",
      FrameBuilder.frame(
        FrameBuilder.item(1, FrameBuilder.token), id, FrameBuilder.item(1, FrameBuilder.token)),
      .processing,
      7
    ),
    ("an unknown item", FrameBuilder.frame(id, FrameBuilder.item(9, [1])), .processing, 7),
    (
      "an identifier of 3 bytes", FrameBuilder.frame(FrameBuilder.item(3, [0, 0, 7])), .processing,
      0
    ),
    ("an item beyond its frame", FrameBuilder.frame(id, [1, 0, 32, 1, 2, 3]), .processing, 7),
    ("two bytes left over", FrameBuilder.frame(id, [1, 0]), .processing, 7),
    ("command 0, no token", [0, 0, 0], .missingToken, 0),
    ("command 1, a token of 65,535 bytes", [1, 0, 0, 0, 7, 0, 0, 0, 0, 0xff, 0xff], .tokenSize, 7),
    ("command 1, no payload", FrameBuilder.enhanced(7, payload: []), .missingPayload, 7),
    (
      "command 1, a payload of 65,535 bytes", FrameBuilder.enhanced(7).prefix(43) + [0xff, 0xff],
      .payloadSize, 7
    ),
    ("a frame of 4 GiB", [2, 0xff, 0xff, 0xff, 0xff], .payloadSize, 0),
    (
      "a frame over the limit", [2] + FrameBuilder.number(FrameParser.frameLimit + 1), .payloadSize,
      0
    ),
  ]

  private static let id = FrameBuilder.item(3, FrameBuilder.number(7))

  private static func text(_ size: Int) -> [UInt8] {
    Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: size - 8) + Array(#""}"#.utf8)
  }

  @Test(arguments: mistakes.indices)
  func `a mistake has its status and its identifier`(index: Int) throws {
    let (what, bytes, status, identifier) = Self.mistakes[index]
    let packet = ErrorPacket(status, identifier: identifier)
    #expect(
      steps(FrameBuilder.push(6) + bytes) == [.push(try push(6)), .refused(packet)], "\(what)")
    #expect(packet.bytes == [8, status.rawValue] + FrameBuilder.number(Int(identifier)))
  }

  @Test func `after a mistake nothing is read, and nothing kept`() throws {
    var parser = FrameParser(app: .customer)
    parser.append([9])
    let refused = parser.next()
    parser.append(FrameBuilder.push(8))
    #expect(parser.next() == refused)
    #expect(!parser.hasPart)
  }

  @Test func `4096 bytes are a payload, and a part of a frame is waited for`() throws {
    let bytes = FrameBuilder.push(7, payload: Self.text(4096))
    guard case .push(let push) = steps(bytes).first else {
      Issue.record("4096 bytes are refused")
      return
    }
    #expect(push.payload.utf8.elementsEqual(Self.text(4096)))
    for count in 0..<bytes.count { #expect(steps(Array(bytes.prefix(count))).isEmpty) }
  }
}
