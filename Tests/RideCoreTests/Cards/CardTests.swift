import Testing

@testable import Base
@testable import RideCore

@Suite("A card") struct CardTests {
  @Test func `a newly registered card is updated at once`() throws {
    var stage = CardStage()
    stage.run()
    stage.register()
    stage.run()
    let arrival = try #require(stage.wire.first)
    #expect(stage.wire.count == 1)
    #expect(arrival.event == "update" && arrival.status == "requested" && arrival.priority == 5)
    #expect(arrival.seconds == 0 && arrival.staleDate == Sample.now.epochSeconds + 120)
    #expect(arrival.push.headers.topic == "com.example.customer.push-type.liveactivity")
    #expect(stage.ledger.values.first?.event.name == "card_registered")
    #expect(stage.ledger.values.first?.cardEvent == .update)
  }

  @Test func `an unchanged card is not sent`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.emit("eta_changed")
    stage.run(for: .seconds(20))
    #expect(stage.wire.count == 1)
  }

  @Test func `R28: quick changes fold, and the last of them leaves`() {
    var stage = CardStage()
    stage.register()
    stage.run()
    for second in 1...10 {
      stage.eta(second)
      stage.run(for: .seconds(1))
    }
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.seconds) == [0, 15])
    #expect(stage.wire.map(\.eta) == [0, 10])
    #expect(stage.wire.last?.priority == 5)
  }

  @Test func `an urgent event leaves at once, aloud and at priority 10`() throws {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(1))
    stage.state("driver_arrived")
    stage.eta(7)
    stage.run()
    let arrival = try #require(stage.wire.last)
    #expect(arrival.seconds == 1 && arrival.priority == 10)
    #expect(arrival.title == "Your driver is here" && arrival.status == "driver_arrived")
    #expect(stage.ledger[arrival.push.entry.id]?.event.name == "driver_arrived")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { $0.title != nil }.count == 1)
  }

  @Test func `an alert that another state has overtaken is not shown`() throws {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(1))
    stage.state("driver_arrived")
    stage.state("ride_started")
    stage.run()
    let arrival = try #require(stage.wire.last)
    #expect(arrival.status == "ride_started" && arrival.priority == 10 && arrival.title == nil)
    #expect(stage.reasons.contains("superseded: superseded by what came after it"))
  }

  @Test func `an urgent event stays urgent though another state follows at once`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(1))
    stage.state("driver_arrived")
    stage.state("driver_en_route")
    stage.run()
    #expect(stage.wire.last?.priority == 10 && stage.wire.last?.status == "driver_en_route")
  }

  @Test(arguments: [(false, 20), (true, 60)])
  func `R27: urgent pushes beyond the budget are sent at priority 5, with a reason`(
    frequent: Bool, budget: Int
  ) {
    var stage = CardStage()
    stage.register(frequent: frequent)
    stage.run(for: .seconds(1))
    for turn in 0..<80 {
      stage.eta(turn)
      stage.state(turn % 2 == 0 ? "driver_arrived" : "ride_started")
      stage.run(for: .seconds(40))
    }
    let urgent = stage.wire.filter { $0.priority == 10 }
    #expect(urgent.count == budget && urgent.allSatisfy { $0.seconds < 3600 })
    let reason = "accepted: priority 5: the card had \(budget) urgent pushes in an hour"
    #expect(stage.reasons.contains(reason))
    stage.run(for: .seconds(3600))
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.last?.priority == 10)
  }

  @Test func `R29: a quiet card is sent again before it is stale`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(600))
    #expect(stage.wire.map(\.seconds) == [0, 90, 180, 270, 360, 450, 540])
    #expect(stage.wire.allSatisfy { $0.priority == 5 && $0.title == nil })
    #expect(stage.ledger.values.contains { $0.event.name == "refresh" && $0.isOfSlot })
    for (one, next) in zip(stage.wire, stage.wire.dropFirst()) {
      #expect(next.at.epochSeconds < one.staleDate ?? 0)
    }
  }

  @Test(arguments: ["ride_completed", "cancelled"])
  func `a final state ends it, and nothing follows`(state: String) throws {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(5))
    stage.state(state)
    stage.run()
    let end = try #require(stage.wire.last)
    #expect(end.event == "end" && end.status == state && end.priority == 10)
    #expect(end.dismissalDate == Sample.now.epochSeconds + 605 && end.staleDate == nil)
    #expect(stage.gone == [TokenInvalidation(kind: .activity, id: 1, since: nil, reason: "ended")])
    #expect(stage.due == nil)
    stage.eta(9)
    stage.run(for: .seconds(600))
    #expect(stage.wire.count == 2)
  }

  @Test func `a state that the rule names ends it as well`() {
    var stage = CardStage()
    stage.life.end = ["ride_started"]
    stage.register()
    stage.run(for: .seconds(5))
    stage.state("ride_started")
    stage.run(for: .seconds(600))
    #expect(stage.wire.map(\.event) == ["update", "end"])
  }

  @Test func `a card that comes when the ride is over is ended`() {
    var stage = CardStage()
    stage.state("ride_completed")
    stage.run(for: .seconds(5))
    stage.register()
    stage.run()
    #expect(stage.wire.map(\.event) == ["end"])
  }

  /// R30: silence, age, a ride that is gone, another person's ride.
  @Test func `R30: a card whose ride has no events is ended`() {
    var stage = CardStage()
    stage.life.lostAfter = .seconds(1800)
    stage.register()
    stage.run(for: .seconds(4000))
    #expect(stage.wire.last?.event == "end" && stage.wire.last?.seconds == 1800)
    #expect(stage.reasons.contains("accepted: the ride had no event for 30m"))
  }

  @Test func `R30: before iOS would leave it standing it is ended`() {
    var stage = CardStage()
    stage.register()
    for _ in 0..<9 {
      stage.eta(Int(stage.now.epochSeconds))
      stage.run(for: .seconds(3600))
    }
    #expect(stage.wire.last?.event == "end" && stage.wire.last?.seconds == 27_900)
    #expect(stage.reasons.contains("accepted: iOS ends a card after eight hours"))
  }

  @Test func `R30: a ride that is gone, and one that has another customer`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(5))
    var lost = decide(
      RideView(rideID: "r1", ride: nil, cards: stage.cards, memo: stage.memo),
      by: stage.configuration,
      now: stage.now)
    #expect(lost.pushes.map(\.entry.cardEvent) == [.end])
    #expect(lost.pushes.first?.acceptedReason?.text == "the ride is gone")
    stage.ride.customerID = "somebody else"
    lost = decide(stage.view, by: stage.configuration, now: stage.now)
    #expect(lost.pushes.first?.acceptedReason?.text == "the ride has another customer")
  }

  @Test func `an end that fails is tried until no screen could show the card`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(5))
    stage.state("ride_completed")
    stage.run(for: .seconds(43_000)) { push in
      push.entry.cardEvent == .end ? .refused(503, "Shutdown") : .accepted
    }
    #expect(stage.wire.map(\.event) == ["update"])
    #expect(stage.gone.isEmpty)
    stage.run(for: .seconds(300)) { _ in .refused(503, "Shutdown") }
    #expect(stage.gone.map(\.reason) == ["expired"])
    #expect(stage.due == nil && stage.reasons.filter { $0.hasPrefix("expired") }.count == 1)
    #expect(!stage.ledger.values.contains { $0.status == .pending })
  }

  @Test func `a failed push is retried with the ride's state of that time, under the same ID`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.eta(1)
    var tried: [PushID] = []
    stage.run { push in
      tried.append(push.headers.id)
      return .refused(503, "ServiceUnavailable")
    }
    stage.eta(2)
    stage.run(for: .seconds(60)) { push in
      tried.append(push.headers.id)
      return .accepted
    }
    #expect(stage.wire.map(\.eta) == [0, 2])
    #expect(Set(tried.prefix(2)).count == 1)
    #expect(stage.ledger[tried[0]]?.attempts == 2)
    #expect(Set(stage.wire.map(\.push.headers.id)).count == 2)
    #expect(stage.ledger.values.allSatisfy { $0.status == .accepted })
  }

  @Test func `while APNs wants to be left alone, no event calls`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.eta(1)
    stage.run { _ in .refused(503, "Shutdown") }
    stage.wait(1)
    stage.state("driver_arrived")
    stage.run(for: .seconds(10))
    // At least five seconds after a 503, and half of the first backoff.
    #expect(stage.wire.map(\.seconds) == [0, 25.5])
    #expect(stage.wire.last?.priority == 10 && stage.wire.last?.title != nil)
  }

  /// Pushes that were tried and failed, or not tried at all: `make chaos` found that they stayed
  /// pending forever.
  @Test(arguments: [
    (PushOutcome.refused(503, "Shutdown"), 1), (.unsent(.paused(for: .seconds(5))), 0),
    (.unsent(.closed), 0),
  ])
  func `a failed update ends with the card, with a reason`(
    outcome: PushOutcome, attempts: Int
  ) {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.eta(1)
    stage.claim { _ in outcome }
    stage.state("ride_completed")
    stage.run(for: .seconds(10))
    #expect(stage.wire.map(\.event) == ["update", "end"])
    #expect(stage.reasons == ["accepted: ", "accepted: ", "superseded: superseded by the end"])
    #expect(stage.wire.last.map { stage.ledger[$0.push.entry.id]?.attempts } == 1)
    let ended = stage.ledger.values.first { $0.status == .superseded }
    #expect(ended?.attempts == attempts)
  }

  @Test func `a failed update ends when its card is gone`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.eta(1)
    stage.run { _ in .refused(503, "Shutdown") }
    stage.cards[0].isGone = true
    stage.run(for: .seconds(600))
    #expect(stage.reasons == ["accepted: ", "suppressed: the card is gone"])
    #expect(stage.due == nil)
  }

  @Test func `another person may have a card of the ride, too`() {
    var stage = CardStage()
    stage.register()
    stage.cards[0].ownerID = "a friend"
    stage.run(for: .seconds(20))
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.map(\.event) == ["update", "update"])
  }

  @Test func `a late alert is not shown, and the state is`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.state("driver_arrived")
    stage.wait(121)
    stage.run()
    #expect(stage.wire.last?.status == "driver_arrived" && stage.wire.last?.title == nil)
  }

  @Test func `a push that a stop cut off is due at once and does not count as tried`() {
    var stage = CardStage()
    stage.register()
    stage.claim { _ in .unsent(.closed) }
    #expect(stage.due == stage.now)
    stage.run()
    #expect(stage.ledger.values.map(\.attempts) == [1])
    #expect(stage.wire.map(\.seconds) == [0])
  }

  @Test func `410 ends the card, and nothing else`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(20))
    stage.eta(1)
    let since = stage.now
    stage.run(for: .seconds(600)) { _ in .refused(410, "Unregistered", since: since) }
    #expect(
      stage.gone == [
        TokenInvalidation(kind: .activity, id: 1, since: since, reason: "Unregistered")
      ])
    #expect(stage.wire.count == 1 && stage.due == nil)
  }

  @Test func `a refused token is not refreshed, and a new one is updated at once`() {
    var stage = CardStage()
    stage.register()
    var tries = 0
    stage.run(for: .seconds(3600)) { _ in
      tries += 1
      return .refused(400, "BadDeviceToken")
    }
    #expect(tries == 1)
    stage.register("cb", card: .activity(1))
    stage.run(for: .seconds(1))
    #expect(stage.wire.map(\.token) == ["cb"])
  }

  @Test func `an end that its token can't take is sent to the next one`() {
    var stage = CardStage()
    stage.register("ca")
    stage.register("cb")
    stage.run(for: .seconds(20))
    stage.state("ride_completed")
    // The end of the other card is still being retried, so the ride stays on the agenda.
    var tries = 0
    stage.run(for: .seconds(60)) { push in
      if push.address.text == "ca" { tries += 1 }
      return push.address.text == "ca" ? .refused(400, "BadDeviceToken") : .refused(503, "Shutdown")
    }
    #expect(tries == 1)
    stage.register("cc", card: .activity(1))
    stage.run()
    #expect(stage.wire.last?.token == "cc" && stage.wire.last?.event == "end")
  }

  @Test func `R39: after a takeover in the same second the timestamp still rises`() throws {
    var stage = CardStage()
    stage.register()
    let first = try #require(
      decide(stage.view, by: stage.configuration, now: stage.now).pushes.last)
    // Its node ends before it settles, and a step of the database's clock ends the lease at once.
    var view = stage.view
    view.isTakenOver = true
    let second = try #require(decide(view, by: stage.configuration, now: stage.now).pushes.last)
    #expect((second.step?.timestamp ?? 0) > (first.step?.timestamp ?? .max))
    // A longer step back, which shortened the lease.
    view.heldUntil = stage.now + .seconds(20)
    let third = decide(view, by: stage.configuration, now: stage.now - .seconds(30)).pushes.last
    #expect(third?.step?.timestamp == (stage.now + .seconds(21)).epochSeconds)
  }

  @Test func `the newest token is used, and updated at once`() {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(3))
    stage.register("cb", card: .activity(1))
    stage.run()
    #expect(stage.wire.map(\.token) == ["ca", "cb"])
    #expect(stage.wire.map(\.timestamp) == [1_800_000_000, 1_800_000_003])
  }

  @Test func `content that can't be rendered is recorded once, and the end is sent without it`() {
    var stage = CardStage()
    stage.life.contentState["plate"] = .value(Sample.text("{{ride.attributes.wheels}}"))
    stage.register()
    stage.run(for: .seconds(600))
    stage.eta(3)
    stage.run(for: .seconds(600))
    #expect(stage.wire.isEmpty)
    #expect(stage.reasons == ["suppressed: missing ride.attributes.wheels"])
    stage.state("ride_completed")
    stage.run()
    #expect(stage.wire.map(\.event) == ["end"])
    #expect(stage.wire.first?.aps.value(at: ["content-state"]) == nil)
  }
}
