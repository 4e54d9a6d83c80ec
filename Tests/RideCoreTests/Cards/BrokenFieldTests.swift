import Testing

@testable import Base
@testable import RideCore

/// U7: a value that an optional field of a card can't take.
@Suite("A broken value of an optional field") struct BrokenFieldTests {
  private static func value(
    _ text: String, _ type: FieldType, optional: Bool = false
  ) -> PayloadTemplate {
    .field(.value(Sample.text(text)), CardField(type, isOptional: optional))
  }

  /// Values that an optional field can't take, its type and filters, and what the ledger records.
  private static let broken: [(FieldType, String, String, String)] = [
    (.int, #""soon""#, "", #"content-state.eta is the string "soon", the card's type is int"#),
    (.dateEpoch, "[]", "", "content-state.eta is a list, the card's type is date-epoch"),
    (
      .state, #""teleporting""#, "",
      #"content-state.eta is the string "teleporting", which is not a state of the rule files"#
    ),
    (.dateEpoch, #""soon""#, " | epoch", #"ride.attributes.x "soon" is not a time"#),
    (.int, #""soon""#, " | int", #"ride.attributes.x "soon" is not a number"#),
  ]

  @Test func `R95: a field that a later version added is null without a value`() throws {
    var stage = CardStage()
    stage.life.contentState["note"] = .field(
      .value(Sample.text("{{ride.attributes.note}}")), CardField(.string, since: 2))
    stage.ride.attributes = "{}"
    stage.register()
    stage.run()
    #expect(stage.wire.first?.aps.value(at: ["content-state", "note"]) == .null)
  }

  @Test(arguments: broken.indices)
  func `is sent as null, with a warning`(index: Int) {
    let (type, json, filter, reason) = Self.broken[index]
    for startsByPush in [false, true] {
      var stage = CardStage()
      stage.life.contentState["eta"] = Self.value(
        "{{ride.attributes.x\(filter)}}", type, optional: true)
      stage.ride.attributes = #"{"x": \#(json)}"#
      if startsByPush {
        stage.offerStart()
        stage.state("driver_assigned")
      } else {
        stage.register()
      }
      stage.run(for: .seconds(20))
      #expect(stage.wire.first?.aps.value(at: ["content-state", "eta"]) == .null)
      #expect(stage.wire.first?.status == (startsByPush ? "driver_assigned" : "requested"))
      let rows = stage.ledger.values.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }
      #expect(rows.contains("accepted: sent as null: \(reason)"), "\(rows)")
      let codes = stage.ledger.values.filter { $0.status == .accepted }.map { $0.reason?.code.word }
      #expect(codes.contains("card_field_dropped"))
    }
  }

  @Test func `default null makes a field optional, and the new state is sent`() throws {
    var stage = CardStage()
    stage.life.contentState["eta"] = .value(
      Sample.text("{{ride.attributes.x | epoch | default: null}}"))
    stage.ride.attributes = #"{"x": 1763712000}"#
    stage.register()
    stage.run()
    stage.ride.attributes = #"{"x": "soon"}"#
    stage.state("ride_started")
    stage.run(for: .seconds(20))
    #expect(stage.wire.map(\.status) == ["requested", "ride_started"])
    #expect(stage.wire.last?.aps.value(at: ["content-state", "eta"]) == .null)
  }

  @Test func `an attribute of a start is null, too, and an object whose member is broken`() throws {
    var stage = CardStage()
    stage.life.attributes["doors"] = Self.value("{{ride.attributes.x}}", .int, optional: true)
    stage.life.contentState["car"] = .field(
      .object(["doors": Self.value("{{ride.attributes.x}}", .int)]),
      CardField(.object(nil), isOptional: true))
    stage.ride.attributes = #"{"x": "many"}"#
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    let aps = try #require(stage.wire.first?.aps)
    #expect(aps.value(at: ["attributes", "doors"]) == .null)
    #expect(aps.value(at: ["content-state", "car"]) == .null)
    let reason = try #require(stage.ledger.values.first?.reason)
    #expect(reason.code == .engine(.cardFieldDropped))
    #expect(
      reason.text
        == #"sent as null: content-state.car.doors is the string "many", the card's type is int; "#
        + #"sent as null: attributes.doors is the string "many", the card's type is int"#)
  }
}
