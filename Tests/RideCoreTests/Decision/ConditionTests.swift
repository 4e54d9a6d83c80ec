import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

@Suite("if") struct ConditionTests {
  static func rule(
    _ condition: String, remembering remembered: [[String]] = [],
    on event: String = "driver_arrived"
  ) throws -> Rule {
    var rule = Sample.rule(on: [event])
    rule.condition = try Condition(condition, remembering: remembered)
    return rule
  }

  static func view(
    _ attributes: String, on event: String = "driver_arrived", id: Int64 = 1, memo: Memo = Memo()
  ) -> RideView {
    var ride = Sample.ride()
    ride.attributes = attributes
    return Sample.view(ride: ride, events: [Sample.event(id, event)], memo: memo)
  }

  /// The condition, the attributes, and the reason if nothing is sent.
  static let rows: [(String, String, String?)] = [
    ("ride.attributes.product == 'xl'", #"{"plate": "B", "product": "xl"}"#, nil),
    ("ride.attributes.product == 'xl'", #"{"plate": "B", "product": "s"}"#, "if is false"),
    (
      "ride.attributes.product == 'xl'", #"{"plate": "B"}"#,
      "if: ride.attributes.product is missing"
    ),
    (
      "ride.attributes.a - ride.attributes.b > 3", #"{"a": 5, "b": "x"}"#,
      "if: ride.attributes.a - ride.attributes.b: - is not defined for int and string"
    ),
    (
      "ride.attributes.product", #"{"product": "xl"}"#,
      "if: it gives a value of type string, not bool"
    ),
    ("has(ride.attributes.product)", #"{"plate": "B"}"#, "if is false"),
    ("ride.pickup_at == null && ride.driver_id == 'd' && ride.id == 'r1'", #"{"plate": "B"}"#, nil),
    ("event.name == 'driver_arrived' && now - event.at == duration('1s')", #"{"plate": "B"}"#, nil),
    ("phone.platform == 'ios' && phone.environment == 'production'", #"{"plate": "B"}"#, nil),
    ("phone.locale == 'de'", #"{"plate": "B"}"#, "if is false"),
    ("last == null", #"{"plate": "B"}"#, nil),
  ]

  @Test(arguments: rows)
  func `R85: a rule fires only if its condition is true`(
    condition: String, attributes: String, reason: String?
  ) throws {
    let rule = try Self.rule(condition)
    let decision = decide(Self.view(attributes), by: Sample.book([rule]), now: Sample.now)
    #expect(decision.pushes.count == (reason == nil ? 1 : 0))
    #expect(decision.ended.map(\.reason?.text) == (reason == nil ? [] : [reason]))
    for entry in decision.ended {
      #expect(entry.status == .suppressed)
      #expect((entry.phone == nil) == !condition.contains("phone."))
      #expect(entry.owner == "c")
    }
  }

  @Test func `a condition that reads the phone is decided for each phone`() throws {
    let rule = try Self.rule("phone.locale == 'de'")
    var view = Self.view(#"{"plate": "B"}"#)
    view.phones = [
      Sample.phone(1, token: Sample.customerToken, locale: "de"),
      Sample.phone(2, token: Sample.driverToken, locale: "en"),
    ]
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == [1])
    #expect(decision.ended.map(\.phone) == [2])
    #expect(decision.ended.map(\.reason?.code) == [.engine(.conditionFalse)])
  }

  @Test func `R86: a rule can fire only if a value moved by more than a limit`() throws {
    let rule = try Self.rule(
      "last == null || math.abs(ride.attributes.eta - last.eta) > 180", remembering: [["eta"]],
      on: "ride_updated")
    let configuration = Sample.book([rule])
    var memo = Memo()
    var sent: [Int] = []
    for (index, eta) in [1000, 1100, 1180, 1181, 1300, 1361, 1362, 1000].enumerated() {
      let view = Self.view(
        #"{"plate": "B", "eta": \#(eta)}"#, on: "ride_updated", id: Int64(index + 1), memo: memo)
      let decision = decide(view, by: configuration, now: Sample.now)
      if !decision.pushes.isEmpty { sent.append(eta) }
      // A change that moves nothing leaves no row: there may be one each second.
      #expect(decision.ended.isEmpty)
      #expect(
        decision.settlement.falseConditions == (decision.pushes.isEmpty ? ["arrived": 1] : [:]))
      memo = decision.settled(decision.pushes.map { _ in .accepted }, now: Sample.now) { 0 }.memo
    }
    #expect(sent == [1000, 1181, 1362, 1000])
    #expect(memo.conditions == ["arrived": ConditionMemo(last: #"{"eta":1000}"#)])
  }

  @Test func `U4: a change of the ride outside of while has no row, only a count`() throws {
    var rule = Sample.rule(on: ["ride_updated", "eta_changed"])
    rule.when = .on(["ride_updated", "eta_changed"], while: ["requested"])
    var emit = rule
    emit.name = "emit"
    emit.what = .emit("eta_changed")
    var view = Self.view("{}", on: "ride_updated")
    let decision = decide(view, by: Sample.book([rule, emit]), now: Sample.now)
    #expect(decision.ended.isEmpty && decision.pushes.isEmpty && decision.settlement.emits.isEmpty)
    #expect(decision.settlement.outsideStates == ["arrived": 1, "emit": 1])
    let settled = decision.settled([], now: Sample.now) { 0 }
    #expect(settled.entries.isEmpty && settled.outsideStates == ["arrived": 1, "emit": 1])
    var tally = PushTally()
    tally.add([settled, settled], at: Sample.now)
    #expect(tally.outsideStates == ["arrived": 2, "emit": 2])
    // Another event is about something that happened: its row stays.
    view.events = [Sample.event(2, "eta_changed")]
    let other = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(other.reasons == ["suppressed: the ride is driver_arrived, not in while"])
    #expect(other.settlement.outsideStates.isEmpty)
  }

  @Test func `a condition that fails the same way again has one row`() throws {
    let rule = try Self.rule("ride.attributes.eta > 5", on: "ride_updated")
    let configuration = Sample.book([rule])
    var memo = Memo()
    var rows: [String] = []
    for (index, attributes) in [#"{}"#, #"{}"#, #"{"eta": "x"}"#, #"{"eta": 3}"#, #"{}"#]
      .enumerated()
    {
      let view = Self.view(attributes, on: "ride_updated", id: Int64(index + 1), memo: memo)
      let decision = decide(view, by: configuration, now: Sample.now)
      rows += decision.ended.compactMap { $0.reason?.text }
      memo = decision.settled([], now: Sample.now) { 0 }.memo
    }
    #expect(
      rows == [
        "if: ride.attributes.eta is missing",
        "if: ride.attributes.eta > 5: > is not defined for string and int",
        "if: ride.attributes.eta is missing",
      ])
  }

  @Test func `what is remembered is dropped with the ride and the rule, and is bounded`() throws {
    let rule = try Self.rule(
      "last == null || last.note != ride.attributes.note", remembering: [["note"], ["a", "b"]])
    let configuration = Sample.book([rule])
    let long = String(repeating: "x", count: 5000)
    let decision = decide(
      Self.view(#"{"note": "\#(long)"}"#), by: configuration, now: Sample.now)
    #expect(
      decision.reasons == ["suppressed: if: remember has 5026 bytes, at most 4096 are kept"])
    var memo = Memo()
    memo.conditions = ["arrived": ConditionMemo(last: #"{"note":1}"#)]
    var view = Self.view(#"{"plate": "B", "note": 2}"#, memo: memo)
    #expect(
      decide(view, by: configuration, now: Sample.now).settlement.memo.conditions
        == ["arrived": ConditionMemo(last: #"{"a":{"b":null},"note":2}"#)])
    #expect(decide(view, by: Sample.book(), now: Sample.now).settlement.memo.conditions.isEmpty)
    view.ride?.state = "ride_completed"
    #expect(decide(view, by: configuration, now: Sample.now).settlement.memo.conditions.isEmpty)
  }

  @Test func `nothing is remembered if no phone was to receive the push`() throws {
    let rule = try Self.rule("last == null", remembering: [["eta"]])
    var view = Self.view(#"{"plate": "B", "eta": 1}"#)
    view.phones = []
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.reasons == ["suppressed: no phone of the customer"])
    #expect(decision.settlement.memo.conditions.isEmpty)
  }

  @Test func `a former owner's event is decided by the present row, and while goes first`() throws {
    var rule = try Self.rule("ride.attributes.missing")
    rule.when = .on(["driver_arrived"], while: ["requested"])
    let decision = decide(Self.view("{}"), by: Sample.book([rule]), now: Sample.now)
    #expect(decision.reasons == ["suppressed: the ride is driver_arrived, not in while"])
  }

  @Test func `R87: the condition of a schedule rule is decided for each slot`() throws {
    var stage = AgendaStage(.every(.seconds(600)), while: ["driver_arrived"])
    stage.rule.condition = try Condition(
      "event.name == 'every' && ride.attributes.plate == 'B' && now >= event.at")
    stage.ride.attributes = #"{"plate": "B"}"#
    stage.state("driver_arrived", at: 0)
    stage.run(until: 25)
    stage.ride.attributes = #"{"plate": "X"}"#
    stage.run(until: 45, from: 25)
    stage.ride.attributes = "{}"
    stage.run(until: 55, from: 45)
    #expect(stage.slots.count == 2)
    #expect(
      stage.reasons == ["if is false", "if is false", "if: ride.attributes.plate is missing"])
  }

  /// Conditions on an event about no ride, and why nothing is sent; nil if it is.
  private static let withoutRide: [(text: String, reason: String?)] = [
    ("ride.id == null && ride.time_zone == null && ride.state == null", nil),
    ("ride.id != 'r1' && event.data.driver_id == 'd7'", nil),
    (
      "ride.id.startsWith('person:')",
      "if: ride.id.startsWith('person:'): startsWith is not defined for null and string"
    ),
    ("size(ride.attributes) == 0", nil),
    ("ride.attributes.plate == 'B'", "if: ride.attributes.plate is missing"),
  ]

  @Test(arguments: withoutRide.indices)
  func `R89: an event about no ride has no value of a ride`(index: Int) throws {
    let (text, reason) = Self.withoutRide[index]
    var rule = Sample.rule(app: .driver, body: "Soon")
    rule.condition = try Condition(text)
    let view = RideView(
      rideID: RideID(ofPerson: "d7", app: .driver), ride: nil,
      events: [Sample.event(data: #"{"driver_id": "d7"}"#)],
      phones: [Sample.phone(7, app: .driver, owner: "d7")])
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.ended.map(\.reason?.text) == (reason.map { [$0] } ?? []))
    #expect(decision.pushes.count == (reason == nil ? 1 : 0))
  }

  @Test func `a pass that is split decides as a whole, and remembers at its end`() throws {
    let first = try Self.rule("last == null", remembering: [["plate"]])
    var second = try Self.rule("ride.state == 'requested'")
    second.name = "never"
    let configuration = Sample.book([first, second])
    var view = Self.view(#"{"plate": "B"}"#)
    view.events.append(Sample.event(2))
    let zeros = String(repeating: "0", count: 56)
    view.phones = (1...2500).map { Sample.phone($0, token: zeros + String(10_000_000 + $0)) }
    var sent: [Int64] = []
    var rows: [String] = []
    for _ in 0..<20 where !view.events.isEmpty {
      let decision = decide(view, by: configuration, now: Sample.now)
      sent += decision.pushes.map(\.entry.event.id)
      rows += decision.ended.map { "\($0.rule) \($0.event.id) \($0.reason?.text ?? "")" }
      view.apply(decision.settled(decision.pushes.map { _ in .accepted }, now: Sample.now) { 0 })
      // The row changes between the parts: the later ones go by the first.
      view.ride?.state = "requested"
    }
    #expect(sent.count == 2500 && Set(sent) == [1])
    #expect(
      rows == ["never 1 if is false", "arrived 2 if is false", "never 2 if is false"])
    #expect(view.memo.conditions == ["arrived": ConditionMemo(last: #"{"plate":"B"}"#)])
  }
}
