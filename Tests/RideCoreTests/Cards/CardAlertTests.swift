import Testing

@testable import RideCore

@Suite("Alerts of cards") struct CardAlertTests {
  private func stage(alsoWithCard: Bool = false) -> CardStage {
    var stage = CardStage()
    var rule = Sample.rule(body: "{{ride.state}}")
    rule.isSentWithCard = alsoWithCard
    stage.others = [rule]
    stage.register()
    stage.run(for: .seconds(20))
    stage.wire = []
    stage.ledger = [:]
    stage.state("driver_arrived")
    return stage
  }

  @Test func `an alert that a card shows is not sent again`() {
    var stage = stage()
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [true])
    #expect(stage.reasons == ["accepted: ", "suppressed: covered by the card"])
  }

  @Test func `unless the rule states so`() {
    var stage = stage(alsoWithCard: true)
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard).filter { !$0 }.count == 1)
  }

  @Test func `an alert that waits for its card is superseded by a newer one of its place`() {
    var stage = stage()
    stage.others = ["driver_arrived", "ride_completed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    // The card's update is retried and the alert waits for it; then the ride ends.
    stage.run(for: .seconds(1)) { _ in .refused(503, "Shutdown") }
    #expect(stage.memo.retries.map(\.entry.rule) == ["driver_arrived"])
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { !$0.isCard }.map(\.push.entry.rule) == ["ride_completed"])
    let arrival = stage.ledger.values.first { $0.rule == "driver_arrived" }
    #expect(
      arrival?.status == .superseded && arrival?.reason?.text == "superseded by ride_completed")
  }

  @Test func `a card does not show an alert after the push that superseded it`() {
    var stage = stage()
    stage.others = ["driver_arrived", "eta_changed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    stage.run(for: .seconds(1)) { _ in .refused(503, "Shutdown") }
    // An event that leaves the ride in its state: the card's next update would still alert.
    stage.emit("eta_changed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { $0.title != nil }.map(\.push.entry.rule) == ["eta_changed"])
    #expect(stage.ledger.values.first { $0.rule == "driver_arrived" }?.status == .superseded)
  }

  @Test func `a card that shows an alert in the same pass supersedes nothing`() {
    var stage = stage()
    stage.others = ["driver_arrived", "eta_changed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    stage.emit("eta_changed")
    stage.run(for: .seconds(60))
    #expect(stage.reasons.filter { $0 == "suppressed: covered by the card" }.count == 1)
    #expect(stage.wire.filter { !$0.isCard }.map(\.push.entry.rule) == ["eta_changed"])
  }

  @Test func `if the card shows no alert for an event, the ordinary alert is sent`() {
    var stage = stage()
    stage.life.alerts = [:]
    stage.run(for: .seconds(60))
    #expect(stage.wire.contains { !$0.isCard })
  }

  @Test func `a card that turns out to be gone does not swallow the alert`() {
    var stage = stage()
    let since = stage.now
    stage.run(for: .seconds(5)) { push in
      push.headers.pushType == .alert ? .accepted : .refused(410, "Unregistered", since: since)
    }
    #expect(stage.wire.map(\.isCard) == [false])
    #expect(stage.wire.first?.seconds ?? 99 < 21)
    #expect(Set(stage.ledger.values.map(\.status)) == [.rejected, .accepted])
  }

  @Test func `while the card is retried the alert waits, and is shown once`() {
    var stage = stage()
    var fails = 3
    stage.run(for: .seconds(100)) { push in
      if push.headers.pushType == .alert { return .accepted }
      fails -= 1
      return fails > 0 ? .refused(503, "Shutdown") : .accepted
    }
    #expect(stage.wire.filter { $0.title != nil }.count == 1)
    #expect(stage.wire.allSatisfy { $0.isCard })
    #expect(stage.reasons.contains("suppressed: covered by the card"))
    #expect(!stage.reasons.contains { $0.hasPrefix("pending") })
  }

  @Test func `an alert shown through the card's next token is shown once`() {
    var stage = stage()
    stage.run { _ in .refused(503, "InternalServerError") }
    stage.wait(1)
    stage.register("cb", card: .activity(1))
    stage.run(for: .seconds(60))
    #expect(stage.wire.allSatisfy { $0.isCard })
    #expect(stage.wire.first?.title != nil)
    #expect(!stage.reasons.contains { $0.hasPrefix("pending") })
  }

  @Test func `if the card fails for good, the alert is sent while it is valid`() {
    var stage = stage()
    var fails = 0
    let since = stage.now
    stage.run(for: .seconds(100)) { push in
      if push.headers.pushType == .alert { return .accepted }
      fails += 1
      return fails < 3 ? .refused(503, "Shutdown") : .refused(410, "Unregistered", since: since)
    }
    #expect(stage.wire.map(\.isCard) == [false])
    #expect(stage.memo.retries.isEmpty)
  }

  @Test func `an alert that a card can't show is sent at once`() throws {
    var stage = stage()
    stage.life.contentState["plate"] = .value(Sample.text("{{ride.attributes.wheels}}"))
    stage.claim()
    #expect(stage.wire.map(\.isCard) == [false])
    try #require(stage.due ?? stage.now > stage.now && stage.memo.retries.isEmpty)
    // Once the card can be rendered, it does not repeat the alert.
    stage.ride.attributes = #"{"wheels": 4}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [false, true])
    #expect(stage.wire.last?.title == nil)
  }

  @Test func `while a card delays its update, the alert waits as long`() throws {
    var stage = stage()
    stage.life.urgent = []
    stage.events = []
    stage.eta(1)
    stage.run(for: .seconds(5))
    stage.state("driver_arrived")
    stage.claim()
    #expect(stage.wire.map(\.isCard) == [true])
    try #require(stage.due == stage.now + .seconds(10))
    stage.run(for: .seconds(60))
    #expect(stage.wire.map { $0.title != nil } == [false, true])
    #expect(stage.reasons.contains("suppressed: covered by the card"))
  }
}
