import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What FCM's answers about a phone mean for its card, and the alerts that cards show.
@Suite struct AndroidCardPhoneTests {
  private func stage(_ ids: Int64...) -> CardStage {
    var stage = CardStage.android()
    stage.phones = (ids.isEmpty ? [7] : ids).map { CardStage.androidPhone($0) }
    stage.state("driver_assigned")
    return stage
  }

  @Test func `a phone that is gone is disabled, and the card runs on for the others`() {
    var stage = stage(7, 8)
    stage.run(for: .seconds(20)) { push in
      push.entry.phone == 7
        ? .refused(404, "UNREGISTERED", since: CardStage.start) : .accepted
    }
    #expect(stage.gone.map(\.kind) == [.phone] && stage.gone.map(\.id) == [7])
    #expect(stage.phones.map(\.id) == [8])
    stage.eta(5)
    stage.run(for: .seconds(200))
    #expect(stage.messages(to: 7).isEmpty && stage.messages(to: 8).map(\.eta).contains(5))
  }

  @Test func `an unproved lane disables nothing`() {
    var stage = stage()
    stage.doubtful = [PushLane(network: .android, app: .customer)]
    stage.run(for: .seconds(20)) { _ in .refused(404, "UNREGISTERED", since: CardStage.start) }
    #expect(stage.gone.isEmpty && stage.phones.count == 1)
  }

  @Test(arguments: [
    (PushOutcome.refused(403, "SENDER_ID_MISMATCH"), PhoneObservation.Kind.bad(probe: nil)),
    (.refused(429, "DEVICE_QUOTA_EXCEEDED"), .throttled(until: Sample.now)),
  ])
  func `what an answer reveals about the phone is observed`(
    outcome: PushOutcome, kind: PhoneObservation.Kind
  ) {
    let stage = stage()
    let decision = decide(stage.view, by: stage.configuration, now: stage.now)
    let settlement = decision.settled([outcome], now: stage.now, jitter: { 0 })
    let found = settlement.observations.first
    #expect(settlement.observations.count == 1 && found?.phone == 7)
    if case .throttled(let until) = found?.kind {
      #expect(until > stage.now && settlement.memo.cards[.phone(7)]?.retryAt ?? until >= until)
    } else {
      #expect(found?.kind == kind)
    }
  }

  @Test func `a phone that FCM refused before is known to be good`() {
    var stage = stage()
    stage.phones[0].problem = PhoneProblem()
    stage.phones[0].problem?.refusals = 1
    let decision = decide(stage.view, by: stage.configuration, now: stage.now)
    let settlement = decision.settled([.accepted], now: stage.now, jitter: { 0 })
    #expect(settlement.observations == [PhoneObservation(phone: 7, .good)])
  }

  @Test func `a phone in quarantine gets no card, with one row`() {
    var stage = stage(7, 8)
    stage.phones[0].problem = PhoneProblem()
    stage.phones[0].problem?.refusals = 3
    stage.phones[0].problem?.isQuarantined = true
    stage.run(for: .seconds(20))
    stage.eta(5)
    stage.run(for: .seconds(300))
    #expect(stage.messages(to: 7).isEmpty && stage.messages(to: 8).count > 2)
    let rows = stage.ledger.values.filter { $0.phone == 7 }
    #expect(rows.map(\.status) == [.suppressed])
    #expect(rows.first?.reason?.code == .engine(.phoneQuarantined))
    #expect(rows.first?.reason?.text.contains("FCM") == true)
  }

  @Test func `a phone whose alerts are off shows no card, with one row, and no alert`() {
    var stage = stage()
    stage.phones[0].hasAlertsOff = true
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.run(for: .seconds(20))
    stage.eta(5)
    stage.run(for: .seconds(300))
    #expect(stage.wire.isEmpty)
    #expect(stage.ledger.values.map(\.reason?.code) == [.engine(.alertsOff)])
    stage.phones[0].hasAlertsOff = false
    stage.eta(6)
    stage.run(for: .seconds(20))
    stage.phones[0].hasAlertsOff = true
    stage.eta(7)
    stage.run(for: .seconds(300))
    #expect(stage.messageEvents == ["start", "end"])
  }

  @Test func `a pause that FCM asked for is kept`() {
    var stage = stage()
    stage.phones[0].problem = PhoneProblem()
    stage.phones[0].problem?.quietUntil = (stage.now + .seconds(40)).microseconds
    stage.run(for: .seconds(39))
    #expect(stage.messages.isEmpty)
    stage.run(for: .seconds(5))
    #expect(stage.messages.map(\.seconds) == [40])
  }

  @Test func `all pushes to cards are counted against the phone`() {
    let stage = stage()
    let push = decide(stage.view, by: stage.configuration, now: stage.now).pushes.first
    #expect(push?.tokenOwner == .phone(7) && push?.entry.recipient == nil)
    #expect(push?.lane == PushLane(network: .android, app: .customer))
    #expect(
      push?.readRecipient
        == PushRecipient(kind: .phone, id: 7, token: "fcm:Token-7", owner: "c"))
  }

  @Test func `an alert on the card covers the ordinary one, at the start, too`() {
    for start in ["driver_assigned", "driver_arrived"] {
      var stage = CardStage.android(start: [start])
      stage.others = [Sample.rule(body: "{{ride.state}}")]
      stage.state(start)
      stage.run(for: .seconds(20))
      if start != "driver_arrived" { stage.state("driver_arrived") }
      stage.run(for: .seconds(20))
      #expect(!stage.wire.contains { !$0.isCard }, "\(start)")
      let last = stage.messages.last
      #expect(last?.title == "Your driver is here" && last?.isHigh == true)
      #expect(stage.reasons.contains("suppressed: covered by the card"))
    }
  }

  @Test func `an alert of a card that FCM refuses is sent as an ordinary one`() {
    var stage = stage()
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.run(for: .seconds(20))
    stage.wire = []
    stage.state("driver_arrived")
    stage.run(for: .seconds(20)) { push in
      push.entry.card == nil ? .accepted : .refused(400, "INVALID_ARGUMENT")
    }
    #expect(stage.wire.map(\.isCard) == [false])
  }

  @Test func `an alert on an end that removes the card at once covers nothing`() {
    for after: Duration in [.zero, .seconds(600)] {
      var stage = stage()
      stage.life.dismissals = ["cancelled": after]
      var alert = CardAlert()
      alert.title = LocalizedText(Sample.text("The ride was cancelled"))
      stage.life.alerts["cancelled"] = alert
      stage.others = [Sample.rule(on: ["cancelled"], body: "{{ride.state}}")]
      stage.run(for: .seconds(20))
      stage.wire = []
      stage.state("cancelled")
      stage.run(for: .seconds(10))
      #expect(stage.messageEvents == ["end"])
      #expect(stage.wire.count { !$0.isCard } == (after == .zero ? 1 : 0))
      #expect((stage.messages.first?.title == nil) == (after == .zero))
    }
  }

  @Test func `with-card: skip leaves a phone to its card`() {
    var stage = stage()
    var rule = Sample.rule(body: "{{ride.state}}")
    rule.withCard = .skip
    stage.others = [rule]
    stage.life.alerts = [:]
    stage.run(for: .seconds(20))
    stage.state("driver_arrived")
    stage.run(for: .seconds(20))
    #expect(stage.wire.allSatisfy(\.isCard) && stage.messages.count == 2)
  }

  @Test func `urgent changes beyond the budget are sent at normal priority`() {
    var stage = stage()
    stage.run(for: .seconds(1))
    for turn in 0..<30 {
      stage.eta(turn)
      stage.state(turn % 2 == 0 ? "driver_arrived" : "ride_started")
      stage.run(for: .seconds(40))
    }
    #expect(stage.messages.filter(\.isHigh).count == 20)
  }

  @Test func `hundreds of phones of one person get one start each, in parts`() {
    var stage = CardStage.android()
    stage.phones = (1...700).map { CardStage.androidPhone($0) }
    stage.others = [Sample.rule(on: ["driver_assigned"], body: "{{ride.state}}")]
    stage.state("driver_assigned")
    stage.run(for: .seconds(1))
    #expect(stage.messages.count == 700 && Set(stage.messages.map(\.phone)).count == 700)
    #expect(stage.messageEvents.allSatisfy { $0 == "start" } && stage.memo.part == nil)
    stage.run(for: .seconds(120))
    #expect(stage.messages.count == 1400, "each is sent again before it is stale")
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.messages.count { $0.event == "end" } == 700)
    #expect(stage.due == nil && stage.memo.isEmpty)
  }

  @Test func `a change in the phones of an earlier part is not forgotten`() {
    var stage = CardStage.android()
    stage.phones = (1...700).map { CardStage.androidPhone($0) }
    stage.others = [Sample.rule(on: ["ride_updated"], body: "{{ride.state}}")]
    stage.state("driver_assigned")
    stage.run(for: .seconds(5))
    stage.eta(5)
    stage.run(for: .seconds(60))
    let last = Dictionary(stage.messages.map { ($0.phone, $0.eta) }) { $1 }
    #expect(last.count == 700 && last.values.allSatisfy { $0 == 5 })
  }

  @Test func `a reserved key of data, or too much of it, is recorded once`() {
    for (key, text, code) in [
      ("rp_state", "x", "reserved_key"),
      ("note", String(repeating: "x", count: 4000), "MESSAGE_TOO_LARGE"),
    ] {
      var stage = stage()
      stage.data = [key: .value(Sample.text(text))]
      stage.run(for: .seconds(300))
      #expect(stage.wire.isEmpty && stage.ledger.count == 1)
      #expect(stage.ledger.values.first?.reason?.code.word == code)
      #expect(stage.ledger.values.first?.reason?.text.contains(key) == true)
    }
  }

  @Test func `without a service account a ride has one row for each phone's card`() {
    var stage = stage(7, 8)
    stage.androidApps = []
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.run(for: .seconds(300))
    for turn in 0..<3 {
      stage.eta(turn)
      stage.run(for: .seconds(300))
    }
    #expect(stage.wire.isEmpty && Set(stage.ledger.values.map(\.phone)) == [7, 8])
    #expect(stage.ledger.values.allSatisfy { $0.status == .suppressed && $0.card != nil })
    #expect(stage.ledger.count == 2)
    stage.state("driver_arrived")
    stage.run(for: .seconds(300))
    #expect(stage.ledger.values.count { $0.card == nil } == 2, "no card covers the alert")
    stage.state("ride_completed")
    stage.run(for: .seconds(300))
    #expect(stage.wire.isEmpty && stage.ledger.count == 4 && stage.doubled.isEmpty)
    let codes = Set(stage.ledger.values.map(\.reason?.code))
    #expect(codes == [.engine(.noServiceAccount)])
    #expect(stage.due == nil && stage.memo.isEmpty)
  }

  @Test func `a service account that comes in mid-ride shows the card, and stops it by going`() {
    var stage = stage()
    stage.androidApps = []
    stage.run(for: .seconds(60))
    stage.androidApps = [.customer]
    stage.eta(5)
    stage.run(for: .seconds(60))
    #expect(stage.messageEvents.first == "start" && stage.messages.first?.eta == 5)
    let count = stage.wire.count
    stage.androidApps = []
    stage.eta(6)
    stage.run(for: .seconds(3600))
    #expect(stage.wire.count == count)
    #expect(stage.ledger.values.count { $0.status == .suppressed } == 2)
    #expect(!stage.ledger.values.contains { $0.status == .pending })
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.due == nil && stage.memo.isEmpty)
  }

  @Test func `a card that broadcasts is not for Android, with one row for a ride`() {
    var stage = stage()
    stage.life.broadcast = .latest
    stage.run(for: .seconds(20))
    stage.eta(1)
    stage.run(for: .seconds(20))
    #expect(stage.messages.isEmpty)
    #expect(stage.ledger.values.map(\.reason?.code) == [.engine(.appleOnly)])
  }

  @Test func `the memo of a card that runs survives its storage`() throws {
    var stage = stage(7, 8)
    stage.run(for: .seconds(20)) { push in
      push.entry.phone == 7 ? .accepted : .refused(503, "UNAVAILABLE")
    }
    let memo = stage.memo
    #expect(memo.runs.count == 1 && memo.cards.count == 2)
    #expect(try Memo(storedText: memo.storedText) == memo)
  }
}
