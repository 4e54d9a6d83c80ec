import Testing

@testable import Base
@testable import RideCore

@Suite("A start by push") struct StartTests {
  private func stage() -> CardStage {
    var stage = CardStage()
    stage.offerStart()
    return stage
  }

  @Test func `a phone without a card gets one, with the alert that Apple requires`() throws {
    var stage = stage()
    stage.state("driver_assigned")
    stage.run()
    let start = try #require(stage.wire.first)
    #expect(stage.wire.count == 1 && start.event == "start" && start.priority == 10)
    #expect(start.token == "5a" && start.title == "Driver assigned")
    #expect(start.staleDate == Sample.now.epochSeconds + 120)
    #expect(start.aps.value(at: ["attributes-type"]) == .string("RideAttributes"))
    #expect(start.aps.value(at: ["attributes", "rideId"]) == .string("r1"))
  }

  @Test func `a phone with a card, or whose owner dismissed one, gets no start`() {
    for isGone in [false, true] {
      var stage = stage()
      stage.register()
      stage.cards[0].isGone = isGone
      stage.run(for: .seconds(20))
      stage.state("driver_assigned")
      stage.run()
      #expect(!stage.wire.contains { $0.event == "start" })
    }
  }

  @Test func `without a token the ledger has a reason`() {
    var stage = CardStage()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.reasons == ["suppressed: no push-to-start token of the customer"])
  }

  @Test func `R25: a hundred duplicates, one start`() {
    var stage = stage()
    for turn in 0..<100 {
      stage.state("driver_assigned")
      if turn % 3 == 0 { stage.run(for: .milliseconds(300)) }
    }
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.event) == ["start"])
  }

  @Test(arguments: CardStage.Crash.allCases)
  func `R25: a crash at any step gives one start, or an uncertain one`(crash: CardStage.Crash) {
    var stage = stage()
    stage.state("driver_assigned")
    stage.claim(crash: crash)
    stage.wait(20)
    stage.run()
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    let uncertain = stage.ledger.values.filter { $0.status == .uncertain }
    #expect(stage.wire.filter { $0.event == "start" }.count == (crash == .afterJournal ? 0 : 1))
    #expect(uncertain.count == (crash == .afterClaim ? 0 : 1))
    #expect(uncertain.allSatisfy { $0.attempts == 1 && $0.cardEvent == .start })
  }

  @Test func `a start that provably did not arrive is retried, one that may have is not`() {
    for (outcome, count) in [
      (PushOutcome.unsent(.refusedStream), 1), (.refused(503, "Shutdown"), 1),
      (.unsent(.closed), 1), (.unanswered(.timeout), 1), (.refused(400, "BadDeviceToken"), 0),
    ] {
      var stage = stage()
      stage.state("driver_assigned")
      var answers = [outcome]
      stage.run(for: .seconds(60)) { _ in answers.popLast() ?? .accepted }
      #expect(stage.wire.count == count, "\(outcome)")
      let statuses = stage.ledger.values.map(\.status)
      switch outcome {
      case .unanswered: #expect(statuses == [.uncertain])
      case .refused(let refusal) where refusal.status == 400: #expect(statuses == [.rejected])
      default: #expect(statuses == [.accepted], "\(outcome)")
      }
    }
  }

  /// A regression that `make chaos` found: a journalled retry was in the memo twice.
  @Test(arguments: CardStage.Crash.allCases)
  func `R25: a crash at the second try gives one start, or an uncertain one`(
    crash: CardStage.Crash
  ) {
    var stage = stage()
    stage.state("driver_assigned")
    stage.run { _ in .refused(500, "InternalServerError") }
    stage.now = stage.due ?? stage.now
    stage.claim(crash: crash)
    stage.wait(20)
    let decision = decide(stage.view, by: stage.configuration, now: stage.now)
    let ids = decision.ended.map(\.id) + decision.pushes.map(\.entry.id)
    #expect(Set(ids).count == ids.count)
    stage.run(for: .seconds(60))
    #expect(stage.wire.count == (crash == .afterJournal ? 0 : 1))
    #expect(stage.ledger.values.map(\.status) == [crash == .afterClaim ? .accepted : .uncertain])
    #expect(stage.memo.waiting.isEmpty)
  }

  @Test func `one that comes too late is not sent`() {
    var stage = stage()
    stage.state("driver_assigned")
    stage.run(for: .seconds(600)) { _ in .refused(503, "Shutdown") }
    #expect(stage.wire.isEmpty)
    #expect(stage.ledger.values.map(\.status) == [.expired])
  }

  @Test func `as many of the newest tokens as the owner has phones`() {
    var stage = CardStage()
    stage.phones = [Sample.phone(), Sample.phone(2, token: "bb")]
    for id in 1...3 {
      stage.offerStart("5\(id)", id: Int64(id))
      stage.wait(1)
    }
    stage.state("driver_assigned")
    stage.run()
    #expect(Set(stage.wire.map(\.token)) == ["53", "52"])
    stage.offerStart("54", id: 4)
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.count == 2)
  }

  @Test func `a token that was used and registered again is not the next phone's`() {
    var stage = CardStage()
    stage.phones = [Sample.phone(), Sample.phone(2, token: "bb")]
    stage.offerStart("5a", id: 1)
    stage.state("driver_assigned")
    stage.run(for: .seconds(1))
    stage.offerStart("5b", id: 2)
    stage.startTokens[0].registeredAt = stage.now + .seconds(1)
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.map(\.token) == ["5a", "5b"])
  }

  @Test func `R74: one start for each installation, by its newest token`() {
    var stage = CardStage()
    stage.phones = [Sample.phone(), Sample.phone(2, token: "bb"), Sample.phone(3, token: "cc")]
    for (index, installation) in ["a", "a", "b", "c"].enumerated() {
      stage.phones[min(index, 2)].installationID = InstallationID(installation)
      stage.offerStart("5\(index)", id: Int64(index + 1))
      stage.startTokens[index].installationID = InstallationID(installation)
      stage.wait(1)
    }
    // A card is there already, dismissed or not.
    stage.register()
    stage.cards[0].installationID = "c"
    stage.cards[0].isGone = true
    stage.run()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.filter { $0.event == "start" }.map(\.token) == ["52", "51"])
    stage.offerStart("54", id: 5)
    stage.startTokens[4].installationID = "a"
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.count { $0.event == "start" } == 2)
  }

  @Test func `R74: tokens without an installation start cards on the other phones only`() {
    var stage = CardStage()
    stage.phones = [Sample.phone(), Sample.phone(2, token: "bb")]
    stage.phones[0].installationID = "a"
    for id in 1...3 {
      stage.offerStart("5\(id)", id: Int64(id))
      stage.wait(1)
    }
    stage.startTokens[0].installationID = "a"
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.map(\.token) == ["53", "51"])
  }

  @Test func `R74: a phone whose row names no installation may be the one with the card`() {
    var stage = CardStage()
    stage.phones = [Sample.phone()]
    stage.offerStart("51", id: 1)
    stage.register()
    stage.cards[0].installationID = "a"
    stage.run()
    stage.state("driver_assigned")
    stage.run()
    #expect(!stage.wire.contains { $0.event == "start" })
  }

  @Test func `a token starts cards of its own type`() {
    var stage = stage()
    stage.startTokens[0].attributesType = "OtherAttributes"
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.isEmpty)
  }

  @Test func `one that failed does not go again once the ride is over`() {
    var stage = stage()
    stage.state("driver_assigned")
    stage.run { _ in .refused(503, "InternalServerError") }
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.isEmpty)
    #expect(stage.reasons == ["suppressed: the ride is over already"])
  }

  @Test func `R26: a change that a started card missed is sent when its token arrives`() throws {
    var stage = stage()
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    stage.state("driver_en_route")
    stage.eta(4)
    stage.run(for: .seconds(10))
    #expect(stage.wire.count == 1)
    stage.register()
    stage.run(for: .seconds(1))
    let update = try #require(stage.wire.last)
    #expect(stage.wire.count == 2 && update.seconds == 20)
    #expect(update.status == "driver_en_route" && update.eta == 4 && update.priority == 10)
  }
}
