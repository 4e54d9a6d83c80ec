import Testing

@testable import Base
@testable import RideCore

/// `if` on a card: whether RidePulse starts one.
@Suite("if on a card") struct CardConditionTests {
  private func stage(_ condition: String, _ attributes: String = "{}") throws -> CardStage {
    var stage = CardStage()
    stage.condition = try Condition(condition)
    stage.ride.attributes = attributes
    stage.offerStart()
    return stage
  }

  private static let shuttle = #"{"product": "shuttle"}"#
  private static let product = "ride.attributes.product != 'shuttle'"

  /// The condition, the attributes, and the only row of the ledger.
  static let rows: [(String, String, String)] = [
    (product, #"{"product": "xl"}"#, "accepted: "),
    (product, shuttle, "suppressed: if is false"),
    (product, "{}", "suppressed: if: ride.attributes.product is missing"),
    ("event.name == 'driver_assigned' && now == event.at", "{}", "accepted: "),
    ("contact == null", "{}", "accepted: "), ("contact != null", "{}", "suppressed: if is false"),
    ("share('card') < 1.0", "{}", "accepted: "),
    ("share('card') < 0.0", "{}", "suppressed: if is false"),
  ]

  @Test(arguments: rows)
  func `a card is started only if the condition is true`(
    condition: String, attributes: String, row: String
  ) throws {
    var stage = try stage(condition, attributes)
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.map(\.event) == (row == "accepted: " ? ["start"] : []))
    #expect(stage.reasons == [row])
  }

  @Test func `a later change that makes it true starts the card, and earlier ones add no row`()
    throws
  {
    var stage = try stage(Self.product, Self.shuttle)
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    for attributes in [#"{"product": "shuttle", "eta": 1}"#, #"{"product": "shuttle", "eta": 2}"#] {
      stage.ride.attributes = attributes
      stage.emit("ride_updated")
      stage.run(for: .seconds(60))
    }
    #expect(stage.wire.isEmpty && stage.reasons == ["suppressed: if is false"])
    stage.ride.attributes = #"{"product": "xl"}"#
    stage.emit("ride_updated")
    stage.run()
    #expect(stage.wire.map(\.event) == ["start"] && stage.wire.first?.seconds == 180)
    #expect(stage.memo.awaitedStarts.isEmpty && stage.memo.conditions.isEmpty)
    // It is decided about the start alone: the running card goes on.
    stage.register()
    stage.ride.attributes = Self.shuttle
    stage.state("driver_arrived")
    stage.run(for: .seconds(30))
    #expect(stage.wire.last?.event == "update" && stage.wire.last?.status == "driver_arrived")
  }

  @Test func `a later event of start decides again`() throws {
    for condition in ["event.name == 'driver_arrived'", "contact != null"] {
      var stage = try stage(condition)
      stage.life.start = ["driver_assigned", "driver_arrived"]
      stage.state("driver_assigned")
      stage.run(for: .seconds(60))
      #expect(stage.wire.isEmpty, "\(condition)")
      stage.contacts = [OwnerContact(app: .customer, owner: "c", at: stage.now)]
      stage.state("driver_arrived")
      stage.run()
      #expect(stage.wire.map(\.event) == ["start"], "\(condition)")
    }
  }

  @Test func `a ride that ends before keeps the reason of the condition`() throws {
    var stage = try stage(Self.product, Self.shuttle)
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    stage.state("cancelled")
    stage.ride.attributes = "{}"
    stage.run(for: .seconds(3600))
    #expect(stage.wire.isEmpty && stage.reasons == ["suppressed: if is false"])
    #expect(stage.memo.awaitedStarts.isEmpty && stage.memo.conditions.isEmpty)
  }

  @Test func `a start that waits for from is decided when it opens`() throws {
    for (attributes, events) in [(#"{"product": "xl"}"#, ["start"]), (Self.shuttle, [])] {
      var stage = try stage(Self.product, attributes == Self.shuttle ? "{}" : Self.shuttle)
      stage.life.from = CardOpening(.pickupAt, offset: .seconds(-2700))
      stage.ride.pickupAt = stage.now + .seconds(3600)
      stage.state("driver_assigned")
      stage.run(for: .seconds(60))
      stage.ride.attributes = attributes
      stage.emit("ride_updated")
      stage.run(for: .seconds(900))
      #expect(stage.wire.map(\.event) == events)
      #expect(events.isEmpty == stage.reasons.contains("suppressed: if is false"))
    }
  }

  @Test func `a start that is tried again is decided again`() throws {
    var stage = try stage(Self.product, #"{"product": "xl"}"#)
    stage.state("driver_assigned")
    stage.claim(answer: { _ in .refused(Refusal(status: 503)) })
    #expect(stage.wire.isEmpty && !stage.memo.waiting.isEmpty)
    stage.ride.attributes = Self.shuttle
    stage.run(for: .seconds(60))
    #expect(stage.wire.isEmpty && stage.reasons == ["suppressed: if is false"])
    stage.ride.attributes = #"{"product": "xl"}"#
    stage.emit("ride_updated")
    stage.run()
    #expect(stage.wire.map(\.event) == ["start"])
  }

  @Test func `a card that the app registers itself is updated, whatever the condition is`() throws {
    var stage = try stage(Self.product, Self.shuttle)
    stage.state("driver_assigned")
    stage.run()
    stage.register()
    stage.run(for: .seconds(5))
    stage.state("driver_arrived")
    stage.run(for: .seconds(30))
    #expect(stage.wire.last?.event == "update" && stage.wire.allSatisfy { $0.event != "start" })
  }
}
