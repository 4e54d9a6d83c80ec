import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What a recorded day keeps of attributes and data, and under which names.
@Suite struct HarmlessValuesTests {
  private let names = Pseudonyms(salt: "a salt of some length")
  private static let now = Timestamp(epochSeconds: 1_795_248_000)

  /// Test case 2 of RFC 4231, and Python's hmac for a key that is hashed first.
  @Test(arguments: [
    (
      "Jefe", "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      String(repeating: "k", count: 131), "x",
      "5e7df641fef282dee7244c5dd15b5bd8cf84ca3483ca5685fc31cef5dd361622"
    ),
  ])
  func hmac(key: String, message: String, code: String) {
    let hex = Pseudonyms(salt: key).code(message).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    #expect(hex.joined() == code)
  }

  @Test func `An ID has one pseudonym for each salt and each role`() {
    let other = Pseudonyms(salt: "another salt of some length")
    let all = [
      names.id(.owner, "u17"), names.id(.ride, "u17"), names.id(.owner, "u18"),
      other.id(.owner, "u17"), names.token("aabb"), names.token("aabc"),
    ]
    #expect(Set(all).count == all.count)
    #expect(names.id(.owner, "u17") == Pseudonyms(salt: "a salt of some length").id(.owner, "u17"))
    #expect(names.token("AABB") == names.token("aabb"))
    #expect(names.token("aabb").count == 64)
    #expect(all.allSatisfy { !$0.contains("u17") })
  }

  private func values(keeping kept: Set<String> = []) throws -> HarmlessValues {
    var rule = Sample.rule()
    rule.condition = try Condition("ride.attributes.product == 'robotaxi' && has(event.data.n)")
    let rules = RuleSet(
      activeStates: ["driver_arrived"], finalStates: [], events: [], rules: [rule],
      attributes: DeclaredAttributes(["reason": .words(["traffic", "other"])]))
    return HarmlessValues(names, keeping: kept, rules: rules)
  }

  /// A member and what is left of it; nil for a stand-in.
  static let members: [(key: String, value: JSONValue, kept: JSONValue?)] = [
    ("seats", .integer(4), .integer(4)), ("is_shared", .bool(true), .bool(true)),
    ("none", .null, .null), ("fare", .number(22.5), .number(22.5)),
    ("eta_epoch", .integer(1_795_248_300), .integer(1_795_248_300)),
    ("eta_ms", .integer(1_795_248_300_000), .integer(1_795_248_300_000)),
    ("at", .string("2026-11-21T08:00:00+01:00"), .string("2026-11-21T08:00:00+01:00")),
    ("product", .string("robotaxi"), .string("robotaxi")),
    ("currency", .string("jpy"), .string("jpy")),
    ("reason", .string("traffic"), .string("traffic")),
    ("app", .string("customer"), .string("customer")),
    ("state", .string("driver_arrived"), .string("driver_arrived")),
    ("digits", .string("42"), .string("42")), ("empty", .string(""), .string("")),
    ("product", .string("limousine of Ana"), nil), ("plate", .string("B-RP 1001"), nil),
    ("phone", .string("015112345678"), nil), ("phone", .integer(15_112_345_678), nil),
    ("phone", .number(1.5e12), nil), ("fleet_id", .integer(7), nil),
    ("fleet_id", .string("7"), nil), ("ride_id", .string("r1"), nil),
    ("lat", .number(52.5219), .integer(53)), ("pickup_lng", .number(13.4132), .integer(13)),
    ("longitude", .integer(13), .integer(0)), ("x", .number(389_123.5), .integer(360)),
    ("lat_e5", .integer(52_521), .integer(0)), ("anything", .number(52.5219), .number(52.5)),
    ("factor", .number(1.125), .number(1.13)), ("mobile", .integer(5_112_345), nil),
    ("where_text", .string("52.5219"), nil), ("geohash", .string("9021"), nil),
    ("route", .string("_p~iF~ps|U_ulLnnqC"), nil), ("amount", .string("14.20"), .string("14.20")),
  ]

  @Test(arguments: members.indices)
  func `Numbers, times, booleans and words stay; all else becomes a stand-in`(index: Int) throws {
    let (key, value, kept) = Self.members[index]
    let left = try #require(try values().members([key: value], at: Self.now)[key])
    if let kept { return #expect(left == kept) }
    #expect(left != value)
    #expect(!String(decoding: left.json, as: UTF8.self).contains(value.text))
    // Equal values stay equal, and others become others.
    #expect(try values().members([key: value], at: Self.now)[key] == left)
    #expect(try values().members([key: .string("other text")], at: Self.now)[key] != left)
    #expect(try values(keeping: [key]).members([key: value], at: Self.now)[key] == value)
  }

  @Test func `What is nested is made harmless, too`() throws {
    let data: [String: JSONValue] = [
      "stops": .array([.object(["name": .string("Canal Street 7"), "n": .integer(1)])]),
      "driver_id": .array([.string("d7"), .integer(8)]),
    ]
    let left = try values().members(data, at: Self.now)
    let text = String(decoding: JSONValue.object(left).json, as: UTF8.self)
    #expect(!text.contains("Canal") && !text.contains(#""d7""#) && text.contains(#""n":1"#))
    #expect(
      left["driver_id"]
        == .array([.string(names.id(.owner, "d7")), .string(names.id(.owner, "8"))]))
  }

  @Test func `No position survives, whatever its shape and name`() throws {
    let exact: [JSONValue] = [.number(13.4132), .number(52.5219)]
    let data: [String: JSONValue] = [
      "shape": .object(["type": .string("Point"), "coordinates": .array(exact)]),
      "gps": .array([.integer(525_219), .number(13.25)]), "stops": .array([.array(exact)]),
      "pickupLocation": .object(["a": .number(13.41), "b": .integer(5252)]), "d": .array(exact),
    ]
    let text = JSONValue.object(try values().members(data, at: Self.now)).text
    for trace in ["13.4", "52.5", "525219", "13.2", "5252"] {
      #expect(!text.contains(trace), "\(trace) in \(text)")
    }
  }

  @Test func `Keys of a map that name people become stand-ins`() throws {
    let map: [String: JSONValue] = [
      "+4915112345678": .integer(1), "ana@example.com": .integer(2), "u1788": .integer(3),
      "Ana Li": .integer(4), "line1": .integer(5), "isShared": .bool(true), "product": .null,
    ]
    guard
      case .object(let left)? = try values().members(["shares": .object(map)], at: Self.now)[
        "shares"]
    else { return #expect(Bool(false), "no object") }
    #expect(
      left.count == map.count && left["line1"] == .integer(5) && left["isShared"] == .bool(true))
    let text = JSONValue.object(left).text
    for secret in ["4915", "ana@", "u1788", "Ana Li"] { #expect(!text.contains(secret)) }
  }

  @Test func `Words in quotes are found in conditions`() {
    #expect(
      RuleSet.quoted(in: #"a == 'x y' && b in ["u", 'v'] || c == "open"#) == ["x y", "u", "v"])
  }
}
