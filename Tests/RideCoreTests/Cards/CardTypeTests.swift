import Testing

@testable import Base
@testable import RideCore

/// What a card's field may hold, and what becomes of a card with another value.
@Suite("The types of a card") struct CardTypeTests {
  /// A type, the ride's value, and what is sent; nil if nothing is.
  private static let conversions: [(FieldType, String, String?)] = [
    (.string, #""a""#, #""a""#), (.string, #""""#, #""""#), (.string, "7", #""7""#),
    (.string, "4.5", #""4.5""#), (.string, "true", nil), (.string, "[1]", nil),
    (.string, "{}", nil),
    (.state, #""driver_arrived""#, #""driver_arrived""#), (.state, #""teleporting""#, nil),
    (.state, "7", nil),
    (.int, "7", "7"), (.int, "-7", "-7"), (.int, "20.0", "20"), (.int, "2e3", "2000"),
    (.int, "4.5", nil), (.int, "1e300", nil), (.int, #""1763712000""#, "1763712000"),
    (.int, #""-5""#, "-5"), (.int, #""+5""#, "5"), (.int, #""20.0""#, nil), (.int, #"" 5""#, nil),
    (.int, #""""#, nil), (.int, #""soon""#, nil), (.int, #""9223372036854775807""#, "\(Int64.max)"),
    (.int, #""9223372036854775808""#, nil), (.int, #""١""#, nil), (.int, "true", nil),
    (.int, "[]", nil),
    (.double, "2", "2"), (.double, "4.5", "4.5"), (.double, #""12""#, "12"),
    (.double, #""4.5""#, "4.5"), (.double, #""-1.5e2""#, "-150"),
    (.double, #""inf""#, nil), (.double, #""4,5""#, nil), (.double, #"" 4.5""#, nil),
    (.double, #""4.5 ""#, nil), (.double, #""1e999""#, nil), (.double, #""true""#, nil),
    (.double, #""""#, nil), (.double, "false", nil),
    (.bool, "true", "true"), (.bool, "false", "false"), (.bool, "1", nil), (.bool, "0", nil),
    (.bool, #""true""#, nil),
    (.dateEpoch, "1763712000", "1763712000"), (.dateEpoch, "1763712000.0", "1763712000"),
    (.dateEpoch, #""2025-11-21T08:00:00Z""#, "1763712000"),
    (.dateEpoch, #""2025-11-21T09:00:00.75+01:00""#, "1763712000"),
    (.dateEpoch, "1763712000.5", nil), (.dateEpoch, "1763712000000", nil),
    (.dateEpoch, #""1763712000""#, nil), (.dateEpoch, #""soon""#, nil),
    (.dateEpoch, #""2025-11-21""#, nil), (.dateEpoch, "true", nil),
    (.list(nil), "[1]", "[1]"), (.list(nil), "{}", nil), (.list(nil), #""a""#, nil),
    (.object(nil), #"{"a":1}"#, #"{"a":1}"#), (.object(nil), "[]", nil),
    (.words(["van", "taxi"]), #""taxi""#, #""taxi""#), (.words(["van"]), #""bus""#, nil),
    (.words(["van"]), "1", nil),
    (.unknown, "true", "true"), (.unknown, #"{"a":[1]}"#, #"{"a":[1]}"#),
  ]

  @Test(arguments: conversions.indices)
  func `R95: a conversion is exact, or there is none`(index: Int) throws {
    let (type, value, sent) = Self.conversions[index]
    let json = try #require(JSONValue(json: value.utf8))
    let states: Set = ["driver_arrived"]
    let converted = type.converted(json, states: states)
    #expect(converted.map { String(decoding: $0.json, as: UTF8.self) } == sent)
  }

  private static let stops = FieldType.list(
    .object(["address": CardField(.string), "eta": CardField(.dateEpoch, isOptional: true)]))

  /// Values of a typed list, what is sent, and otherwise why nothing is.
  private static let lists: [(String, sent: String?, reason: String?)] = [
    ("[]", "[]", nil),
    (
      #"[{"address": "a", "eta": "2025-11-21T08:00:00Z", "secret": 1}]"#,
      #"[{"address":"a","eta":1763712000}]"#, nil
    ),
    (#"[{"address": 5}]"#, #"[{"address":"5","eta":null}]"#, nil),
    (
      #"[{"address": "a"}, {}]"#, nil,
      "content-state.eta[1].address is null, the card's type is string"
    ),
    (
      #"[{"address": "a", "eta": "soon"}]"#, nil,
      #"content-state.eta[0].eta is the string "soon", the card's type is date-epoch"#
    ),
    (#"["a"]"#, nil, #"content-state.eta[0] is the string "a", the card's type is object"#),
  ]

  @Test(arguments: lists.indices)
  func `R127: the elements of a typed list are converted, or the field is not sent`(index: Int) {
    let (value, sent, reason) = Self.lists[index]
    var stage = stage(Self.stops, value)
    stage.register()
    stage.run()
    let eta = stage.wire.first?.aps.value(at: ["content-state", "eta"])
    #expect(eta.map { String(decoding: $0.json, as: UTF8.self) } == sent)
    if let reason { #expect(stage.reasons.contains("suppressed: \(reason)"), "\(stage.reasons)") }
  }

  private static func value(
    _ text: String, _ type: FieldType, optional: Bool = false
  ) -> PayloadTemplate {
    .field(.value(Sample.text(text)), CardField(type, isOptional: optional))
  }

  /// Returns a stage whose card has one field besides the state, with one value in the ride.
  private func stage(_ type: FieldType, _ json: String, optional: Bool = false) -> CardStage {
    var stage = CardStage()
    stage.life.contentState["eta"] = Self.value("{{ride.attributes.x}}", type, optional: optional)
    stage.ride.attributes = #"{"x": \#(json)}"#
    return stage
  }

  /// The wrong values, and what the ledger records.
  private static let wrong: [(FieldType, String, String)] = [
    (.string, "true", "content-state.eta is true, the card's type is string"),
    (.int, #""soon""#, #"content-state.eta is the string "soon", the card's type is int"#),
    (.int, "4.5", "content-state.eta is the number 4.5, the card's type is int"),
    (.int, "null", "missing ride.attributes.x"),
    (
      .state, #""teleporting""#,
      #"content-state.eta is the string "teleporting", which is not a state of the rule files"#
    ),
    (
      .dateEpoch, "1763712000000",
      "content-state.eta is the number 1763712000000, the card's type is date-epoch"
    ),
    (.list(nil), "{}", "content-state.eta is an object, the card's type is list"),
    (.object(nil), "[]", "content-state.eta is a list, the card's type is object"),
  ]

  @Test(arguments: wrong.indices)
  func `R95: an update of another type is suppressed, and the card still ends`(index: Int) {
    let (type, json, reason) = Self.wrong[index]
    var stage = stage(type, json)
    stage.register()
    stage.run(for: .seconds(400))
    #expect(stage.wire.isEmpty)
    #expect(stage.reasons == ["suppressed: \(reason)"], "once, though it was refreshed")
    stage.state("ride_completed")
    stage.run()
    #expect(stage.wire.map(\.event) == ["end"])
    #expect(stage.wire.first?.aps.value(at: ["content-state"]) == nil)
  }

  @Test(arguments: wrong.indices)
  func `R95: a start of another type is suppressed`(index: Int) {
    let (type, json, reason) = Self.wrong[index]
    var stage = stage(type, json)
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    #expect(stage.wire.isEmpty && stage.reasons == ["suppressed: \(reason)"])
  }

  @Test func `R95: attributes and broadcasts are checked alike`() throws {
    var stage = CardStage()
    stage.life.attributes["car"] = .object([
      "doors": Self.value("{{ride.attributes.doors}}", .int)
    ])
    stage.ride.attributes = #"{"doors": "many"}"#
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.isEmpty)
    #expect(
      stage.reasons
        == [#"suppressed: attributes.car.doors is the string "many", the card's type is int"#])

    var broadcast = self.stage(.int, #""soon""#)
    broadcast.life.start = []
    broadcast.life.broadcast = .latest
    let id = try #require(ChannelID("dHN0LXNyY2gtY2hubA=="))
    broadcast.channels = [
      RideChannel(
        id: 7, app: .customer, environment: .production, storage: .latest,
        createdAt: CardStage.start, standing: .open(id))
    ]
    broadcast.state("requested")
    broadcast.run()
    #expect(broadcast.wire.isEmpty)
    #expect(broadcast.reasons.contains { $0.contains(#"content-state.eta is the string "soon""#) })
  }

  @Test func `R95: the reason names a field several levels deep`() {
    var stage = CardStage()
    stage.life.contentState["stops"] = .array([
      .object(["name": .value(Sample.text("{{ride.state}}"))]),
      .literal(.integer(1)),
      .object(["name": Self.value("{{ride.attributes.name}}", .string)]),
    ])
    stage.ride.attributes = #"{"name": {}}"#
    stage.register()
    stage.run()
    #expect(
      stage.reasons
        == ["suppressed: content-state.stops[2].name is an object, the card's type is string"])
    #expect(stage.ledger.values.first?.reason?.code == .engine(.cardType))
    #expect(LedgerReason.Code.engine(.cardType).word == "card_type")
  }

  @Test(arguments: [
    (#"{"x": null}"#, "null"), ("{}", "null"), (#"{"x": ""}"#, "null"), (#"{"x": 5}"#, "5"),
    (#"{"x": "6"}"#, "6"),
  ])
  func `R95: an optional field without a value is null`(attributes: String, sent: String) throws {
    var stage = stage(.int, "0", optional: true)
    stage.ride.attributes = attributes
    stage.register()
    stage.run()
    let eta = try #require(stage.wire.first?.aps.value(at: ["content-state", "eta"]))
    #expect(String(decoding: eta.json, as: UTF8.self) == sent)
  }

  @Test func `R95: an optional object without one of its values is null as a whole`() throws {
    var stage = CardStage()
    stage.life.contentState["car"] = .field(
      .object([
        "plate": .value(Sample.text("{{ride.attributes.plate}}")), "doors": .literal(.integer(4)),
      ]), CardField(.object(nil), isOptional: true))
    stage.ride.attributes = "{}"
    stage.register()
    stage.run()
    #expect(stage.wire.first?.aps.value(at: ["content-state", "car"]) == .null)
    stage.ride.attributes = #"{"plate": "B"}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(20))
    #expect(
      stage.wire.last?.aps.value(at: ["content-state", "car"])
        == .object(["plate": .string("B"), "doors": .integer(4)]))
  }

  @Test func `R95: a default determines the type of a field without one`() {
    var stage = CardStage()
    stage.register()
    stage.run()
    stage.ride.attributes = #"{"eta": "12"}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(20))
    #expect(stage.wire.map(\.eta) == [0, 12])
    stage.ride.attributes = #"{"eta": "soon"}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(20))
    #expect(stage.wire.count == 2)
    #expect(
      stage.reasons.contains(
        #"suppressed: content-state.eta is the string "soon", the card's type is int"#))
  }

  @Test func `a field without a known type keeps the value's own`() {
    var stage = CardStage()
    stage.life.contentState["eta"] = .value(Sample.text("{{ride.attributes.x}}"))
    stage.ride.attributes = #"{"x": [1, "a"]}"#
    stage.register()
    stage.run()
    #expect(
      stage.wire.first?.aps.value(at: ["content-state", "eta"])
        == .array([.integer(1), .string("a")]))
  }

  @Test func `R93: a card's texts are in the language of its phone`() throws {
    var stage = CardStage()
    let texts = try #require(
      LocalizedText([("en", Sample.text("Gate {{ride.id}}")), ("de", Sample.text("Tor"))]))
    stage.life.contentState["place"] = .field(.visible(texts), CardField(.string))
    stage.life.attributes["title"] = .field(.visible(texts), CardField(.string))
    stage.phones = [Sample.phone(locale: "de-AT")]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    stage.register()
    stage.run(for: .seconds(20))
    #expect(stage.wire.map(\.event).prefix(2) == ["start", "update"])
    for arrival in stage.wire {
      #expect(arrival.aps.value(at: ["content-state", "place"]) == .string("Tor"))
    }
    #expect(stage.wire.first?.aps.value(at: ["attributes", "title"]) == .string("Tor"))
    stage.phones = [Sample.phone(locale: "en-GB")]
    stage.emit("ride_updated")
    stage.run(for: .seconds(20))
    #expect(stage.wire.last?.aps.value(at: ["content-state", "place"]) == .string("Gate r1"))
  }

  /// The bytes of an attribute, of a field of the content, and what is recorded; ActivityKit counts
  /// both. A broadcast has up to 5 KB, and no attributes ever leave with it.
  private static let sizes: [(Int, Int, isBroadcast: Bool, String?)] = [
    (1_000, 1_500, false, nil), (0, 3_700, false, nil),
    (
      3_000, 1_500, false,
      "attributes and content-state have 4564 bytes, ActivityKit takes 4096; the largest field of "
        + "content-state is note with 1502"
    ),
    (3_000, 1_500, true, nil),
    (
      0, 4_100, true,
      "content-state has 4140 bytes, ActivityKit takes 4096; the largest field of content-state is "
        + "note with 4102"
    ),
  ]

  @Test(arguments: sizes.indices)
  func `R98: more than 4 KB of attributes and content is not sent`(index: Int) throws {
    let (map, note, isBroadcast, reason) = Self.sizes[index]
    var stage = CardStage(start: [])
    stage.life.attributes["map"] = .literal(.string(String(repeating: "m", count: map)))
    stage.life.contentState["note"] = .literal(.string(String(repeating: "n", count: note)))
    if isBroadcast {
      stage.life.broadcast = .latest
      let id = try #require(ChannelID("dHN0LXNyY2gtY2hubA=="))
      stage.channels = [
        RideChannel(
          id: 7, app: .customer, environment: .production, storage: .latest,
          createdAt: CardStage.start, standing: .open(id))
      ]
      stage.state("requested")
    } else {
      stage.register()
    }
    stage.run()
    #expect(stage.wire.isEmpty == (reason != nil))
    let suppressed = stage.reasons.filter { $0.hasPrefix("suppressed") }
    #expect(suppressed == reason.map { ["suppressed: \($0)"] } ?? [])
  }

  /// A text in the attributes, the ride's attribute x, and whether a bound is known without
  /// rendering.
  private static let bounds: [(String, String, Bool)] = [
    ("{{ride.id}}", "1", true), ("{{ride.id}} of {{ride.time_zone}}", "1", true),
    ("{{ride.attributes.x}}", "\"\\u0001\\n\\\"é\\/\"", true),
    ("{{ride.attributes.x}}", "-1.2345678901234567e-300", true),
    ("a\u{1}\u{1}\u{1}{{ride.attributes.x}}", "true", true),
    ("{{ride.attributes.x}}", "[1, 2]", false), ("{{ride.attributes.x}}", "null", false),
    ("{{ride.attributes.y}}", "1", false), ("{{ride.attributes.x | default: 0}}", "1", false),
    ("{{ride.pickup_at | time}}", "1", false), ("{{ride.pickup_at}}", "1", true),
    ("{{ride.updated_at}}", "1", true), ("constant", "1", true),
  ]

  @Test(arguments: bounds.indices)
  func `R98: the bound of the attributes' size is never below it`(index: Int) throws {
    let (text, x, isKnown) = Self.bounds[index]
    var ride = Sample.ride()
    ride.attributes = "{\"x\": \(x)}"
    ride.pickupAt = Sample.now
    ride.updatedAt = Sample.now
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8),
      event: RideEvent(id: 1, name: "e", at: Sample.now))
    for type in [FieldType.string, .int, .double, .dateEpoch, .unknown] {
      let value = PayloadTemplate.value(Sample.text(text))
      let payload = CompiledPayload(
        fields: ["a": .field(value, CardField(type))], path: "attributes", states: [])
      let isConstant = text == "constant"
      let bound = payload.sizeBound(in: context)
      if !isConstant { #expect((bound != nil) == isKnown, "\(text)") }
      let size = (try? payload.render(in: context, locale: nil))?.count
      if let bound, let size { #expect(bound >= size, "\(text) as \(type)") }
    }
  }

  /// A text in a rule file, the type of the field, and whether no value is of another type.
  private static let inferred: [(String, FieldType, Bool)] = [
    ("{{ride.state}}", .state, true), ("{{ride.state | upper}}", .string, true),
    ("{{ride.state | default: 'none'}}", .string, true), ("{{ride.id}}", .string, true),
    ("{{ride.customer_id | default: ''}}", .string, true),
    ("{{ride.pickup_at}}", .string, true), ("{{ride.pickup_at | epoch}}", .dateEpoch, true),
    ("{{ride.attributes.x | epoch}}", .dateEpoch, true),
    ("{{ride.attributes.x | epoch | default: 0}}", .dateEpoch, true),
    ("{{ride.attributes.x | epoch | default: null}}", .dateEpoch, true),
    ("{{ride.attributes.x | epoch | default: 'soon'}}", .unknown, false),
    ("{{ride.attributes.x | time}}", .string, true),
    ("{{ride.attributes.x | default: 0 | lower}}", .string, true),
    ("{{ride.attributes.x}}", .unknown, false),
    ("{{ride.attributes.x | default: null}}", .unknown, false),
    ("{{ride.attributes.x | default: ''}}", .string, false),
    ("{{ride.attributes.x | default: 0}}", .int, false),
    ("{{ride.attributes.x | default: 0.5}}", .double, false),
    ("{{ride.attributes.x | default: false}}", .bool, false),
    ("{{ride.id | default: 0}}", .unknown, false),
    ("x {{ride.attributes.x}}", .string, true), ("x", .string, true), ("", .string, true),
  ]

  @Test(arguments: inferred.indices)
  func `R95: what a text determines of its type`(index: Int) throws {
    let (text, type, isCertain) = Self.inferred[index]
    let found = try TextTemplate(text).inferred
    #expect(found == (type, isCertain), "\(text)")
  }

  @Test func `R95: the contract of a card`() throws {
    var stage = CardStage()
    stage.life.contentState = [
      "a": .literal(.null), "b": .array([.literal(.integer(1)), .literal(.integer(2))]),
      "c": .array([.literal(.integer(1)), .literal(.string("x"))]), "d": .array([]),
      "e": .object(["f": .value(try TextTemplate("{{ride.state}}"))]),
      "g": .value(try TextTemplate("{{ride.attributes.x | default: null}}")),
    ]
    let contract = stage.life.contract
    #expect(contract.typeName == "RideAttributes")
    #expect(contract.attributes == ["rideId": CardField(.string)])
    #expect(
      contract.contentState == [
        "a": CardField(.unknown, isOptional: true), "b": CardField(.list(.int)),
        "c": CardField(.list(nil)), "d": CardField(.list(nil)),
        "e": CardField(.object(["f": CardField(.state)])),
        "g": CardField(.unknown, isOptional: true),
      ])
    #expect(contract.untypedFields == ["content-state.a", "content-state.g"])
    #expect(stage.configuration.rules.contracts == [contract])
  }
}
