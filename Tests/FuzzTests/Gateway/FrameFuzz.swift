import Base
import LegacyGateway
import RideCore
import Testing

/// Arbitrary bytes of a legacy sender, received in arbitrary pieces.
@Suite struct `Fuzzing of frames` {
  private static let wanted: Set<String> = [
    "pushes", "unknown", "missingToken", "tokenSize", "missingPayload", "payloadSize",
    "processing",
  ]

  @Test func `Frames are read the same in all pieces, up to the first bad one`() {
    var seen: Set<String> = []
    let count = Fuzz.run("frames", cases: 3000) { chance in
      var bytes = chance.list(upTo: 6) { Self.frame(by: &$0) }.flatMap { $0 }
      if chance.percent(40) { bytes = Self.mutation.mutate(bytes, &chance) }
      if chance.percent(5) { bytes += chance.bytes(upTo: 200) }
      let whole = try Self.read(bytes) { _ in bytes.count }
      let pieces = try Self.read(bytes) { _ in chance.number(1...chance.pick(1, 10, 200)) }
      try require(whole == pieces, "whole \(whole), and in pieces \(pieces)")
      for step in whole {
        switch step {
        case .push: seen.insert("pushes")
        case .refused(let packet): seen.insert("\(packet.status)")
        case .more: break
        }
      }
    }
    if count >= 3000 { #expect(seen.isSuperset(of: Self.wanted), "\(seen)") }
  }

  @Test func `A good frame arrives as it was written`() {
    Fuzz.run("good frames", cases: 2000) { chance throws(Fuzz.Fault) in
      let pushes = chance.list(upTo: 5) { Self.push(by: &$0) }
      let steps = try Self.read(pushes.flatMap { Self.bytes(of: $0, &chance) }) { _ in
        chance.number(1...300)
      }
      try require(steps == pushes.map { .push($0) }, "\(pushes) became \(steps)")
    }
  }

  /// Returns all steps, of which only the last may be a refusal; checks the invariants at each
  /// step.
  private static func read(
    _ bytes: [UInt8], size: (Int) -> Int
  ) throws(Fuzz.Fault) -> [FrameParser.Step] {
    var parser = FrameParser(app: .customer)
    var steps: [FrameParser.Step] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let size = size(rest.count)
      parser.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while true {
        let step = parser.next()
        if step == .more { break }
        steps.append(step)
        switch step {
        case .push(let push): try check(push)
        case .refused: return steps
        case .more: break
        }
      }
      try require(parser.partSize < FrameParser.frameLimit + 5, "\(parser.partSize) bytes wait")
    }
    return steps
  }

  private static func check(_ push: LegacyPush) throws(Fuzz.Fault) {
    try require(push.token.hex.utf8.count == 64, "a token \(push.token.hex)")
    let size = push.payload.utf8.count
    try require((2...PushRequest.payloadLimit).contains(size), "a payload of \(size) bytes")
    // The payload must survive the round trip through Postgres.
    try require(
      JSONValue(json: push.raw.eventData.utf8)?.value(at: ["payload"]) == .string(push.payload),
      "lost in \(push.raw.eventData)")
  }

  private static func push(by chance: inout Chance) -> LegacyPush {
    LegacyPush(
      app: .customer, token: chance.pick(of: tokens, else: tokens[0]),
      payload: chance.pick(
        "{}", #"{"aps":{"alert":"Ä\u0000\ud83d\ude95 \\ \"","badge":9}}"#,
        #"{"aps":{"content-available":1}}"#, #"{"a":"\#(String(repeating: "x", count: 4000))"}"#),
      expiration: chance.percent(70) ? chance.pick(0, 1, .max, 1_800_000_000) : nil,
      priority: chance.pick(.immediate, .powerAware),
      identifier: chance.percent(70) ? chance.pick(0, 1, .max) : nil)
  }

  private static let tokens = ["00", "ff", "7f80", "a00a", "c1"].compactMap { text in
    DeviceToken(String(String(repeating: text, count: 32).prefix(64)))
  }

  private static func frame(by chance: inout Chance) -> [UInt8] {
    bytes(of: push(by: &chance), &chance)
  }

  /// Encodes the push as one of the commands that can express it.
  private static func bytes(of push: LegacyPush, _ chance: inout Chance) -> [UInt8] {
    let token = stride(from: 0, to: 64, by: 2).map { offset in
      let digits = Array(push.token.hex)[offset..<offset + 2]
      return UInt8(String(digits), radix: 16) ?? 0
    }
    let payload = Array(push.payload.utf8)
    if push.priority == .immediate, let identifier = push.identifier,
      let expiration = push.expiration, chance.percent(30)
    {
      return [1] + number(identifier) + number(expiration) + run(token) + run(payload)
    }
    if push.priority == .immediate, push.identifier == nil, push.expiration == nil {
      return [0] + run(token) + run(payload)
    }
    var items = [[1] + run(token), [2] + run(payload)]
    if let identifier = push.identifier { items.append([3, 0, 4] + number(identifier)) }
    if let expiration = push.expiration { items.append([4, 0, 4] + number(expiration)) }
    if push.priority == .powerAware || chance.percent(50) {
      items.append([5, 0, 1, UInt8(push.priority.rawValue)])
    }
    if chance.percent(50) { items.reverse() }
    let bytes = items.flatMap { $0 }
    return [2] + number(UInt32(bytes.count)) + bytes
  }

  private static func run(_ bytes: [UInt8]) -> [UInt8] {
    number(UInt32(bytes.count)).suffix(2) + bytes
  }

  private static func number(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static let mutation = Mutation([
    [0], [1], [2], [3], [5], [0, 0], [0, 31], [0, 33], [0, 32], [0x10, 0x00], [0x10, 0x01],
    [0xff, 0xff], [2, 0, 0, 0, 0], [2, 0, 0, 0x14, 0x01], [1, 0, 0], [2, 0, 0], [3, 0, 4],
    [5, 0, 1, 7],
    [2, 0xff, 0xff, 0xff, 0xff], [0x22], [0x5c], [0xc3], [0xed, 0xa0, 0x80],
  ])
}
