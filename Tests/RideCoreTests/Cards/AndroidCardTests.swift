import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// The card of a ride on Android phones, which no app registers.
@Suite struct AndroidCardTests {
  /// A ride whose card was started, with one message sent.
  private func started() -> CardStage {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.run()
    return stage
  }

  @Test func `a phone gets the card at an event of start, whole`() throws {
    let stage = started()
    let start = try #require(stage.messages.first)
    #expect(stage.wire.count == 1 && start.event == "start" && start.isHigh)
    #expect(start.token == "fcm:Token-7" && start.ttl == "120s")
    #expect(start.data("rp_kind") == "card" && start.data("rp_card") == "7.r1")
    #expect(start.data("rp_ride") == "r1" && start.timestamp == Sample.now.epochSeconds)
    #expect(start.data("rp_state") == #"{"eta":0,"status":"driver_assigned"}"#)
    #expect(start.data("rp_attributes") == #"{"rideId":"r1"}"#)
    #expect(start.number("rp_stale_at") == Sample.now.epochSeconds + 120)
    #expect(start.number("rp_until") == Sample.now.epochSeconds + 120)
    let longest = LiveActivity.ageLimit.components.seconds
    #expect(start.number("rp_gone_at") == Sample.now.epochSeconds + longest)
    #expect(start.data("rp_alert") == nil && start.data("rp_look") == nil)
    let entry = try #require(stage.ledger.values.first)
    #expect(entry.phone == 7 && entry.owner == "c" && entry.cardEvent == .start)
    #expect(entry.card == .phone(7) && entry.status == .accepted && stage.ledger.count == 1)
  }

  @Test func `an iPhone's content-state has the same bytes`() throws {
    var stage = CardStage.android()
    stage.phones.append(Sample.phone(1))
    stage.register()
    stage.state("driver_assigned")
    stage.run()
    let update = try #require(stage.wire.first { $0.push.network != .android })
    let state = try #require(update.aps.value(at: ["content-state"]))
    #expect(stage.messages.first?.data("rp_state") == String(decoding: state.json, as: UTF8.self))
  }

  @Test func `changes fold, leave with attributes, and a quiet card is sent again`() {
    var stage = started()
    for second in 1...10 {
      stage.eta(second)
      stage.run(for: .seconds(1))
    }
    stage.run(for: .seconds(190))
    #expect(stage.messages.map(\.seconds) == [0, 15, 105, 195])
    #expect(stage.messages.map(\.eta) == [0, 10, 10, 10])
    #expect(stage.messageEvents == ["start", "update", "update", "update"])
    #expect(stage.messages.map(\.isHigh) == [true, false, false, false])
    #expect(stage.messages.allSatisfy { $0.data("rp_attributes") == #"{"rideId":"r1"}"# })
  }

  @Test func `attributes are by the start's event, and an update can do without`() throws {
    var stage = CardStage.android()
    stage.life.attributes = [
      "by": .value(Sample.text("{{event.name}}")),
      "plate": .value(Sample.text("{{ride.attributes.plate}}")),
    ]
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.state("driver_en_route")
    stage.run(for: .seconds(20))
    stage.ride.attributes = "{}"
    stage.state("driver_arrived")
    stage.run(for: .seconds(20))
    #expect(stage.messageEvents == ["start", "update", "update"])
    #expect(stage.messages.first?.data("rp_attributes") == stage.messages[1].data("rp_attributes"))
    #expect(
      stage.messages.first?.data("rp_attributes")
        == #"{"by":"driver_assigned","plate":"B-RP 1"}"#)
    let update = try #require(stage.messages.last)
    #expect(update.data("rp_attributes") == nil && update.state != nil)
    let reason = try #require(stage.ledger[update.id]?.reason)
    #expect(reason.code == .engine(.cardFieldDropped) && reason.text.contains("plate"))
  }

  @Test func `the ride's end ends it, with its last content and its time on the screen`() throws {
    var stage = started()
    stage.wait(5)
    stage.state("ride_completed")
    stage.run(for: .seconds(600))
    let end = try #require(stage.messages.last)
    #expect(stage.messageEvents == ["start", "end"] && end.isHigh)
    #expect(end.status == "ride_completed" && end.data("rp_until") == nil)
    #expect(end.number("rp_gone_at") == Sample.now.epochSeconds + 605)
    #expect(end.data("rp_stale_at") == nil && end.ttl == "43200s")
    #expect(end.data("rp_attributes") == nil)
    #expect(stage.gone.isEmpty, "the phone stays registered")
    #expect(stage.due == nil && stage.memo.isEmpty)
  }

  @Test func `a phone that registers in mid-ride gets a start with the present state`() {
    var stage = CardStage.android()
    stage.phones = []
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.due == nil, "a ride without a card needs no attention")
    stage.state("driver_en_route")
    stage.run(for: .seconds(10))
    #expect(stage.wire.isEmpty && stage.due == nil)
    stage.phones = [CardStage.androidPhone()]
    stage.emit("card_registered")
    stage.run(for: .seconds(10))
    #expect(stage.messageEvents == ["start"])
    #expect(stage.messages.first?.status == "driver_en_route")
    #expect(stage.messages.first?.data("rp_attributes") != nil)
  }

  @Test func `a service without FCM keeps nothing of a card that runs`() {
    var stage = CardStage()
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.memo.runs.isEmpty)
    let stored = stage.memo.storedText
    #expect(!stored.contains("runs") && !stored.contains("android"))
  }

  @Test func `a new token of the phone gets a start`() {
    var stage = started()
    stage.phones[0].token = "fcm:another-0"
    stage.emit("card_registered")
    stage.run(for: .seconds(10))
    #expect(stage.messageEvents == ["start", "start"])
    #expect(stage.messages.last?.token == "fcm:another-0")
    #expect(Set(stage.messages.map(\.id)).count == 2)
    #expect(stage.messages[1].timestamp > stage.messages[0].timestamp)
  }

  @Test func `a phone that another one of its installation replaces is left alone`() {
    var stage = started()
    stage.phones = [CardStage.androidPhone(8)]
    stage.eta(5)
    stage.run(for: .seconds(10))
    #expect(stage.messages(to: 7).map(\.event) == ["start"])
    #expect(stage.messages(to: 8).map(\.event) == ["start"])
    stage.phones = [CardStage.androidPhone(7), CardStage.androidPhone(8)]
    stage.eta(6)
    stage.run(for: .seconds(20))
    #expect(stage.messages(to: 7).map(\.event) == ["start", "start"], "it registered again")
    let stamps = stage.messages(to: 7).map(\.timestamp)
    #expect(
      stamps == stamps.sorted() && Set(stage.messages.map(\.id)).count == stage.messages.count)
  }

  @Test func `a ride without Android phones is not due for the card that runs`() {
    var stage = CardStage()
    stage.androidApps = [.customer]
    stage.state("driver_assigned")
    stage.run(for: .seconds(3600))
    #expect(stage.memo.runs["customer"]?.event.name == "driver_assigned")
    #expect(stage.due == nil && stage.wire.isEmpty)
    stage.state("ride_completed")
    stage.run()
    #expect(stage.memo.isEmpty)
  }

  @Test func `two Android phones and an iPhone of one person have three cards`() {
    var stage = CardStage.android(7, 8)
    stage.phones.append(Sample.phone(1))
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(
      stage.messageEvents == ["start", "start"] && Set(stage.messages.map(\.phone)) == [7, 8])
    #expect(stage.wire.count { $0.push.entry.startToken != nil } == 1)
    #expect(stage.wire.count == 3)
  }

  @Test func `an iPhone's card without an installation is on the only iPhone`() {
    var stage = CardStage.android(7)
    stage.phones.append(Sample.phone(1))
    stage.register()
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.wire = []
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.allSatisfy(\.isCard) && stage.wire.count == 2)
  }

  @Test func `a sign-out of the Android phone leaves the iPhone's card alone`() {
    var stage = CardStage.android(7)
    stage.phones.append(Sample.phone(1))
    stage.register()
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.phones.removeAll { $0.platform == .android }
    stage.wire = []
    stage.eta(9)
    stage.run(for: .seconds(200))
    #expect(stage.messages.isEmpty && stage.wire.count > 1)
    #expect(stage.wire.allSatisfy { $0.event == "update" } && stage.gone.isEmpty)
  }

  @Test func `a clock that is set back an hour delays no card and reorders none`() {
    var stage = started()
    stage.wait(60)
    stage.wait(-3600)
    stage.state("driver_arrived")
    stage.claim(crash: .afterSending)
    stage.wait(20)
    stage.isTakenOver = true
    stage.run(for: .seconds(20))
    stage.eta(3)
    stage.run(for: .seconds(20))
    #expect(stage.messages.last?.eta == 3 && stage.messages.last?.status == "driver_arrived")
    stage.state("ride_completed")
    stage.run(for: .seconds(20))
    let times = stage.messages.map(\.timestamp)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    #expect(stage.messages.last?.event == "end")
  }

  @Test func `a start is not journalled, because a repeated one replaces it`() {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    let decision = decide(stage.view, by: stage.configuration, now: stage.now)
    #expect(decision.pushes.count == 1 && decision.journal(now: stage.now) == nil)
  }

  @Test func `a card has no greatest age, and lost-after ends it`() {
    var stage = started()
    stage.life.lostAfter = .seconds(7 * 3600)
    stage.run(for: .seconds(6 * 3600))
    stage.eta(1)
    stage.run(for: .seconds(6 * 3600))
    #expect(stage.messages.last?.event == "update" && stage.messages.last?.eta == 1)
    let gone = (stage.messages.last?.number("rp_gone_at") ?? 0) - Sample.now.epochSeconds
    #expect(gone == 13 * 3600)
    stage.run(for: .seconds(3600))
    #expect(stage.messages.last?.event == "end")
  }

  @Test func `the opening of a card is that of its start`() {
    var stage = CardStage.android()
    stage.life.from = CardOpening(.pickupAt, offset: .seconds(-1800))
    stage.ride.pickupAt = Sample.now + .seconds(3600)
    stage.state("driver_assigned")
    stage.run(for: .seconds(1799))
    #expect(stage.wire.isEmpty)
    stage.run(for: .seconds(10))
    #expect(stage.messageEvents == ["start"])
  }

  @Test func `a person without any phone but Android ones has no row about start tokens`() {
    let stage = started()
    #expect(stage.reasons == ["accepted: "])
  }

  @Test func `a rule about the person excludes them until the next event of start`() throws {
    var stage = CardStage.android()
    stage.condition = try Condition("contact != null")
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.wire.isEmpty && stage.memo.runs["customer"]?.excluded == ["c"])
    stage.contacts = [OwnerContact(app: .customer, owner: "c", at: stage.now)]
    stage.eta(1)
    stage.run(for: .seconds(10))
    #expect(stage.wire.isEmpty)
    stage.emit("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.messageEvents == ["start"])
  }
}
