import Testing

@testable import Base
@testable import RideCore

/// `me`: what concerns one participant, in texts and conditions for this person alone.
@Suite struct MeTests {
  private static let participants = [
    // Another app has its own.
    Participant(app: .driver, ownerID: "c2", attributes: #"{"pin": "99"}"#),
    Participant(app: .customer, ownerID: "c2", attributes: #"{"pin": "22", "eta": 1800000120}"#),
    Participant(app: .customer, ownerID: "c3", attributes: #"{"pin": "33", "eta": 1800000180}"#),
    Participant(app: .driver, ownerID: "c3", attributes: #"{"pin": "98"}"#),
  ]
  private static let phones = ["c", "c2", "c3"].enumerated().map { index, owner in
    Sample.phone(
      Int64(index + 1), owner: OwnerID(owner), token: String(repeating: "a\(index)", count: 32),
      locale: "en")
  }

  private func decision(
    _ rule: Rule, _ phones: [Phone] = phones, event: RideEvent = Sample.event(),
    change: (inout RideView) -> Void = { _ in }
  ) -> Decision {
    var ride = Sample.ride()
    ride.participants = Self.participants
    var view = Sample.view(ride: ride, events: [event], phones: phones)
    change(&view)
    return decide(view, by: Sample.book([rule]), now: Sample.now)
  }

  private func body(of push: PlannedPush) -> JSONValue? {
    JSONValue(json: push.payload)?.value(at: ["aps", "alert", "body"])
  }

  @Test func `Two people of one locale have texts of their own`() {
    let rule = Sample.rule(body: "PIN {{me.pin | default: 'none'}}")
    #expect(
      decision(rule).pushes.map(body)
        == [.string("PIN none"), .string("PIN 22"), .string("PIN 33")])
  }

  @Test func `All phones of a person have the person's text`() {
    let second = Sample.phone(
      9, owner: "c2", token: String(repeating: "b9", count: 32), locale: "en")
    let pushes = decision(Sample.rule(body: "{{me.pin | default: '-'}}"), Self.phones + [second])
      .pushes
    let texts = Dictionary(grouping: pushes) { $0.entry.owner?.text ?? "" }.mapValues { pushes in
      pushes.map { self.body(of: $0)?.text ?? "" }
    }
    #expect(texts == ["c": ["-"], "c2": ["22", "22"], "c3": ["33"]])
  }

  @Test func `A value keeps its type, and one that is missing suppresses its own push alone`() {
    let rule = Sample.rule(body: "Hello", data: ["eta": .value(Sample.text("{{me.eta}}"))])
    let decision = decision(rule)
    #expect(
      decision.pushes.map { JSONValue(json: $0.payload)?.value(at: ["eta"]) }
        == [.integer(1_800_000_120), .integer(1_800_000_180)])
    #expect(decision.reasons == ["suppressed: missing me.eta"])
    #expect(decision.ended.map(\.owner) == ["c"])
  }

  @Test func `Whom an event names has the attributes of the participant`() {
    let rule = Sample.rule(body: "{{me.pin | default: '-'}}")
    let event = Sample.event(data: #"{"customer_id": ["c3", "c"]}"#)
    #expect(
      decision(rule, event: event).pushes.map { self.body(of: $0)?.text } == ["33", "-"])
  }

  private static let conditions: [(String, [OwnerID?])] = [
    ("me.pin == '33'", ["c3"]), ("has(me.pin)", ["c2", "c3"]), ("!has(me.pin)", ["c"]),
    ("!has(me.eta) || me.eta < 1800000150", ["c", "c2"]), ("size(me) == 0", ["c"]),
    // With a value of the phone, it is decided for each phone, and of its owner.
    ("phone.locale == 'en' && has(me.pin)", ["c2", "c3"]),
  ]

  @Test(arguments: conditions.indices) func `A condition is decided for each person`(index: Int)
    throws
  {
    let (text, owners) = Self.conditions[index]
    var rule = Sample.rule(body: "x")
    rule.condition = try Condition(text)
    #expect(decision(rule).pushes.map(\.entry.owner) == owners, "\(text)")
  }

  @Test func `A condition that needs a missing value ends the push of that person alone`() throws {
    var rule = Sample.rule(body: "x")
    rule.condition = try Condition("me.eta > 0")
    let decision = decision(rule)
    #expect(decision.pushes.map(\.entry.owner) == ["c2", "c3"])
    #expect(decision.reasons == ["suppressed: if: me.eta is missing"])
  }

  /// The ride's own customer has no attributes: each change of each pooled ride would have a row.
  @Test func `What one person lacks has one row, although the condition can be decided for others`()
    throws
  {
    for text in ["me.eta > 0", "me.eta < 0", "phone.platform == 'ios' && me.eta > 0"] {
      var rule = Sample.rule(on: ["ride_updated"], body: "x")
      rule.condition = try Condition(text)
      var memo = Memo()
      var rows: [[String]] = []
      for number in 1...3 {
        let decision = decision(rule, event: Sample.event(Int64(number), "ride_updated")) {
          $0.memo = memo
        }
        rows.append(decision.reasons)
        memo =
          decision.settled(decision.pushes.map { _ in .accepted }, now: Sample.now) { 0 }.memo
      }
      #expect(rows == [["suppressed: if: me.eta is missing"], [], []], "\(text)")
    }
  }

  @Test func `A collapse ID is each person's own`() {
    let rule = Sample.rule(body: "x", collapse: "pin-{{me.pin | default: '-'}}")
    #expect(decision(rule).pushes.map(\.entry.collapseID) == ["pin--", "pin-22", "pin-33"])
  }

  @Test func `Who takes part no longer has no attributes left`() {
    let rule = Sample.rule(body: "{{me.pin | default: '-'}}")
    let event = Sample.event(data: #"{"customer_id": ["c3"]}"#)
    let decision = decision(rule, event: event) { $0.ride?.participants = [] }
    #expect(decision.pushes.map { self.body(of: $0)?.text } == ["-"])
  }

  @Test(arguments: ["{", "[]", "null", "7"]) func `Attributes that are no object have no value`(
    attributes: String
  ) {
    let rule = Sample.rule(body: "{{me.pin | default: '-'}}")
    let decision = decision(rule) { view in
      view.ride?.participants = [
        Participant(app: .customer, ownerID: "c2", attributes: attributes)
      ]
    }
    #expect(decision.pushes.map { self.body(of: $0)?.text } == ["-", "-"])
  }
}
