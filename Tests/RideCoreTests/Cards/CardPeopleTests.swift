import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// R89: a card rule serves each of a ride's people of its app.
@Suite struct CardPeopleTests {
  private func stage() -> CardStage {
    var stage = CardStage()
    stage.ride.participants = [Participant(app: .customer, ownerID: "c2")]
    stage.phones.append(Sample.phone(2, owner: "c2", token: String(repeating: "c2", count: 32)))
    stage.startTokens = [(1, "c"), (2, "c2")].map { id, owner in
      StartToken(
        id: id, app: .customer, ownerID: owner, attributesType: "RideAttributes",
        token: String(repeating: "5\(id)", count: 32), registeredAt: CardStage.start)
    }
    stage.ride.state = "driver_assigned"
    return stage
  }

  private func decision(_ stage: CardStage) -> Decision {
    decide(stage.view, by: stage.configuration, now: stage.now)
  }

  @Test func `R89: a card is started on the phones of each`() {
    var stage = stage()
    stage.emit("driver_assigned")
    let pushes = decision(stage).pushes
    #expect(pushes.map(\.entry.owner) == ["c", "c2"])
    #expect(pushes.allSatisfy { $0.entry.cardEvent == .start })
    #expect(Set(pushes.map(\.entry.id)).count == 2)
  }

  @Test func `who can't be started has a row of their own`() {
    var stage = stage()
    stage.startTokens = []
    stage.emit("driver_assigned")
    let closed = decision(stage).ended
    #expect(closed.map(\.owner) == ["c", "c2"] && Set(closed.map(\.id)).count == 2)
    #expect(closed.allSatisfy { $0.reason?.code == .engine(.noStartToken) })
  }

  @Test func `who takes part later gets no start, and updates of a card that the app registers`() {
    var stage = stage()
    let participants = stage.ride.participants
    stage.ride.participants = []
    stage.emit("driver_assigned")
    let first = decision(stage)
    #expect(first.pushes.map(\.entry.owner) == ["c"])
    var view = stage.view
    view.apply(first.settled([.accepted], now: stage.now, jitter: { 0 }))
    view.ride?.participants = participants
    let second = decide(view, by: stage.configuration, now: stage.now)
    #expect(second.pushes.isEmpty && second.ended.isEmpty)
    view.cards = [card(2, "c2", at: stage.now)]
    let third = decide(view, by: stage.configuration, now: stage.now + .seconds(1))
    #expect(third.pushes.map(\.entry.cardEvent) == [.update])
  }

  @Test func `R89: the card of one who takes part no longer ends, and no other`() {
    var stage = stage()
    stage.cards = [card(1, "c", at: stage.now), card(2, "c2", at: stage.now)]
    let first = decision(stage)
    #expect(first.pushes.map(\.entry.cardEvent) == [.update, .update])
    var view = stage.view
    view.apply(first.settled([.accepted, .accepted], now: stage.now, jitter: { 0 }))
    view.ride?.participants = []
    view.events = [RideEvent(id: 5, name: "card_ended", at: stage.now)]
    let now = stage.now + .seconds(20)
    let second = decide(view, by: stage.configuration, now: now)
    #expect(second.pushes.map { $0.entry.card } == [.activity(2)])
    #expect(second.pushes.map(\.entry.cardEvent) == [.end])
    #expect(second.pushes.first?.acceptedReason?.text == "the ride has another customer")
  }

  @Test func `a start for one who takes part no longer is not tried again`() {
    var stage = stage()
    stage.emit("driver_assigned")
    stage.claim { _ in .refused(Refusal(status: 503)) }
    stage.ride.participants = []
    stage.wait(10)
    stage.run()
    #expect(stage.wire.map(\.push.entry.owner) == ["c"])
    let rows = stage.ledger.values.filter { $0.owner == "c2" }
    #expect(rows.map(\.status) == [.suppressed])
    #expect(rows.map(\.reason) == [.noLongerParticipates(.customer)])
  }

  @Test func `A card's content, attributes and alert are those of its person`() {
    var stage = stage()
    stage.ride.participants = [
      Participant(app: .customer, ownerID: "c2", attributes: #"{"pin": "22"}"#)
    ]
    var life = LiveActivity(attributesType: "RideAttributes")
    life.start = ["driver_assigned"]
    let pin = PayloadTemplate.value(Sample.text("{{me.pin | default: 'none'}}"))
    (life.contentState, life.attributes) = (["pin": pin], ["own": pin])
    let rule = Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(life), data: ["data": pin],
      expires: .after(.seconds(60)), source: "a.yaml:1")
    stage.emit("driver_assigned")
    let starts = decide(stage.view, by: Sample.book([rule]), now: stage.now).pushes
    #expect(starts.map { Self.pins(in: $0) } == [["none", "none", "none"], ["22", "22", "22"]])
    stage.cards = [card(1, "c", at: stage.now), card(2, "c2", at: stage.now)]
    let updates = decide(stage.view, by: Sample.book([rule]), now: stage.now).pushes
      .filter { $0.entry.cardEvent == .update }
    #expect(updates.map { Self.pins(in: $0) } == [["none", nil, "none"], ["22", nil, "22"]])
  }

  private static func pins(in push: PlannedPush) -> [String?] {
    let payload = JSONValue(json: push.payload)
    return [["aps", "content-state", "pin"], ["aps", "attributes", "own"], ["data"]].map {
      payload?.value(at: $0)?.text
    }
  }

  private func card(_ id: Int64, _ owner: OwnerID, at now: Timestamp) -> Card {
    Card(
      .activity(id), app: .customer, ownerID: owner, token: String(repeating: "a\(id)", count: 32),
      registeredAt: now)
  }
}
