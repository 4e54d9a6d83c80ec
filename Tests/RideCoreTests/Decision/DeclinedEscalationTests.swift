import Base
import Testing

@testable import RideCore
@testable import Timeline

/// R90: a push that is kept from its owner on purpose needs no escalation, whenever that is decided.
@Suite struct DeclinedEscalationTests {
  private struct Stage {
    var rule = Sample.rule("offer", on: ["driver_arrived"], expires: .after(.seconds(900)))
    var view = Sample.view()
    var emitted: [Double] = []
    var entries: [PushID: LedgerEntry] = [:]
    private var book = PermitBook()

    init() { rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "offer_unseen") }

    @discardableResult
    mutating func decide(
      at seconds: Double, _ outcome: (PlannedPush) -> PushOutcome = { _ in .accepted }
    ) -> Settlement {
      let now = Sample.now + .microseconds(Int64(seconds * 1e6))
      view.reporters = view.memo.escalationOwners
      let decision = RideCore.decide(view, by: Sample.book([rule]), now: now) {
        book.refuse($0, at: now)
      }
      let settled = decision.settled(decision.pushes.map(outcome), now: now) { 0.9 }
      emitted += settled.emits.map { _ in seconds }
      view.apply(settled)
      view.events.removeAll { $0.name == "offer_unseen" }
      book.settle(settled.permits, at: now)
      for entry in settled.entries { entries[entry.id] = entry }
      return settled
    }

    var reasons: [String] {
      entries.values.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }.sorted()
    }
  }

  /// What keeps a push from its owner when its wait is over.
  private static let causes:
    [(code: LedgerReason.Engine, change: @Sendable (inout Stage) -> Void)] =
      [
        (.conditionFalse, { $0.rule.condition = try? Condition("ride.attributes.plate == 'X'") }),
        (.conditionError, { $0.rule.condition = try? Condition("ride.attributes.eta > 1") }),
        (
          .conditionFalse,
          {
            $0.rule.condition = try? Condition("now - phone.contact > duration('10m')")
            $0.view.phones[0].contactedAt = Sample.now
          }
        ),
        (
          .optedOut,
          {
            $0.rule.limits.topic = "t"
            $0.view.optOuts = [OptOut(app: .customer, owner: "c", topic: "t")]
          }
        ),
        (.conditionFalse, { $0.rule.condition = try? Condition("share('a') < 0.000001") }),
        (
          .quietHours,
          {
            guard let from = QuietHours.TimeOfDay(text: "00:00"),
              let to = QuietHours.TimeOfDay(text: "23:59")
            else { return }
            $0.rule.limits.topic = "t"
            $0.rule.limits.quiet = QuietHours(from: from, to: to, zone: .ride, then: .drop)
          }
        ),
        (
          .overCap,
          {
            $0.rule.limits.topic = "t"
            $0.rule.limits.cap = PushCap(count: 0, per: .seconds(600))
          }
        ),
        (
          .leftStates,
          {
            $0.rule.when = .on(["driver_arrived"], while: ["requested"])
          }
        ),
      ]

  @Test(arguments: causes.indices)
  func `R90: declined when its wait is over, it is not escalated`(index: Int) {
    let (code, change) = Self.causes[index]
    for late in [false, true] {
      var stage = Stage()
      stage.rule.delay(by: .seconds(60))
      stage.decide(at: 0)
      change(&stage)
      for time in late ? [70, 70, 71] : [59, 59, 65, 66] { stage.decide(at: Double(time)) }
      #expect(stage.emitted.isEmpty && stage.view.memo.isEmpty)
      #expect(
        stage.entries.values.map(\.reason?.code) == [.engine(code), .engine(code)],
        "the push and its escalation, \(stage.reasons)")
    }
  }

  @Test(arguments: causes.indices)
  func `declined at once, it opens no escalation`(index: Int) {
    var stage = Stage()
    Self.causes[index].change(&stage)
    for time in [0, 0, 6, 7] { stage.decide(at: Double(time)) }
    #expect(stage.emitted.isEmpty && stage.view.memo.isEmpty)
  }

  @Test(arguments: causes.indices)
  func `declined when it is tried again, it is not escalated`(index: Int) {
    let (code, change) = Self.causes[index]
    // Its `if` was true when it was first tried, and it had its permit.
    if [.conditionFalse, .conditionError, .overCap].contains(code) { return }
    var stage = Stage()
    stage.decide(at: 0) { _ in .refused(Refusal(status: 503, reason: "Shutdown")) }
    change(&stage)
    for time in [2, 6, 7] { stage.decide(at: Double(time)) }
    #expect(stage.emitted.isEmpty && stage.view.memo.isEmpty)
  }

  @Test func `declined on one phone, it is escalated for the other`() throws {
    var stage = Stage()
    stage.view.phones = [
      Sample.phone(1, locale: "de"), Sample.phone(2, token: Sample.driverToken, locale: "en"),
    ]
    stage.rule.delay(by: .seconds(60))
    stage.rule.condition = try Condition("phone.locale == 'de'")
    for time in [0, 59, 65, 66] { stage.decide(at: Double(time)) }
    #expect(stage.emitted == [65])
  }

  @Test func `what can't be sent is escalated: nobody has seen it`() {
    var stage = Stage()
    stage.rule.delay(by: .seconds(60))
    stage.decide(at: 0)
    stage.view.ride?.attributes = "{}"
    for time in [59, 65, 66] { stage.decide(at: Double(time)) }
    #expect(stage.emitted == [65])
    #expect(stage.reasons.contains("suppressed: missing ride.attributes.plate"))
  }

  @Test func `without a phone, if decides about the escalation when the wait is over`() throws {
    var stage = Stage()
    stage.view.phones = []
    stage.rule.delay(by: .seconds(60))
    stage.rule.condition = try Condition("ride.attributes.plate == 'X'")
    for time in [0, 65] { stage.decide(at: Double(time)) }
    #expect(stage.emitted.isEmpty && stage.reasons.contains("suppressed: if is false"))
  }

  /// When the parts of a pass are decided: before, while and after the escalation is due.
  @Test(arguments: [[0, 7, 8, 9, 9], [0, 1, 2, 6, 7], [7, 8, 9, 9, 10], [0, 1, 7, 7, 8]])
  func `R90: once, in a pass of any number of parts`(times: [Int]) {
    var stage = Stage()
    let zeros = String(repeating: "0", count: 56)
    stage.view.phones = (1...2500).map { Sample.phone($0, token: zeros + "\(10_000_000 + $0)") }
    for time in times { stage.decide(at: Double(time)) }
    #expect(stage.emitted.count == 1 && stage.view.memo.isEmpty)
  }

  @Test func `a receipt of a phone in the last part counts`() throws {
    var stage = Stage()
    let zeros = String(repeating: "0", count: 56)
    stage.view.phones = (1...2500).map { Sample.phone($0, token: zeros + "\(10_000_000 + $0)") }
    for time in [0, 7, 8] { stage.decide(at: Double(time)) }
    let pushed = try #require(stage.entries.values.first { $0.phone == 2500 }?.id)
    stage.view.seen = [pushed]
    stage.decide(at: 9)
    #expect(stage.emitted.isEmpty && stage.reasons.contains("accepted: seen in time"))
  }

  @Test func `R90: an event about no ride is escalated`() {
    var stage = Stage()
    let ride = RideID(ofPerson: "d7", app: .driver)
    stage.rule = Sample.rule("expiry", app: .driver, on: ["eta_changed"], body: "Soon")
    stage.rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "offer_unseen")
    stage.view = RideView(
      rideID: ride, ride: nil,
      events: [Sample.event(1, "eta_changed", data: #"{"driver_id": "d7"}"#)],
      phones: [Sample.phone(7, app: .driver, owner: "d7")])
    stage.decide(at: 0)
    let settled = stage.decide(at: 6)
    #expect(settled.emits.map(\.data) == [#"{"driver_id":"d7"}"#] && settled.emits.count == 1)
  }
}

/// R90: an app reports no receipt of what a card shows.
@Suite struct CoveredEscalationTests {
  private static let gone = PushOutcome.refused(Refusal(status: 410, reason: "Unregistered"))

  /// Whether the rule yields to any card, how APNs answers the card's push, and whether it escalates.
  private static let table: [(yields: Bool, card: PushOutcome, emits: Bool)] = [
    (false, .accepted, false), (true, .accepted, false), (false, gone, true), (true, gone, true),
  ]

  @Test(arguments: table.indices)
  func `what a card shows is not escalated, what it fails to show is`(index: Int) {
    let row = Self.table[index]
    var stage = CardStage()
    var rule = Sample.rule(body: "{{ride.state}}")
    rule.withCard = row.yields ? .skip : nil
    rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "eta_changed")
    stage.others = [rule]
    stage.register()
    stage.run(for: .seconds(20))
    stage.state("driver_arrived")
    stage.run(for: .seconds(60)) { $0.headers.pushType == .alert ? .accepted : row.card }
    let codes = stage.ledger.values.filter { $0.rule == rule.name }.map(\.reason?.code)
    #expect(codes.contains(.engine(.emitted)) == row.emits, "\(stage.reasons)")
    #expect(codes.contains(.engine(.coveredByCard)) != row.emits)
    #expect(stage.memo.waiting.isEmpty && stage.doubled.isEmpty)
  }

  @Test func `an alert is skipped at once next to a card that has nothing new to show`() {
    var stage = CardStage()
    stage.life.alerts = [:]
    stage.register()
    stage.run(for: .seconds(20))
    var rule = Sample.rule("nearby", on: ["eta_changed"], body: "{{ride.state}}")
    rule.withCard = .skip
    rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "ride_updated")
    stage.others = [rule]
    stage.emit("eta_changed")
    stage.claim()
    #expect(stage.memo.waiting.isEmpty)
    stage.run(for: .seconds(60))
    #expect(
      stage.ledger.values.filter { $0.rule == "nearby" }.map(\.reason?.text)
        == ["the phone shows a card of the ride"])
  }
}
