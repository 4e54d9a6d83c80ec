import Testing

@testable import Base
@testable import RideCore

/// `from`: a reservation has its card shortly before the pickup, not from the booking on.
@Suite("The opening of a card") struct CardOpeningTests {
  private static let evening = Sample.now

  /// A ride that was reserved in the evening for the next morning, 13 hours later.
  private func reserved() -> CardStage {
    var stage = CardStage()
    stage.life.from = CardOpening(.pickupAt, offset: .seconds(-45 * 60))
    stage.life.staleAfter = .seconds(300)
    stage.life.staleAfterByState = ["ride_started": .seconds(1200)]
    stage.ride.pickupAt = Self.evening + .seconds(13 * 3600)
    stage.offerStart()
    return stage
  }

  private static let opens: Double = 13 * 3600 - 45 * 60

  @Test func `R122: a reservation has its card from 45 minutes before the pickup to the end`() {
    var stage = reserved()
    stage.run(for: .seconds(9000))
    stage.state("driver_assigned")
    stage.run(for: .seconds(Int64(Self.opens) - 9000))
    #expect(stage.wire.map(\.event) == ["start"] && stage.wire.map(\.seconds) == [Self.opens])
    #expect(stage.wire.first?.staleDate == stage.now.epochSeconds + 300)
    #expect(stage.reasons.first == "accepted: ")
    #expect(stage.reasons.last?.hasPrefix("suppressed: the card starts at 2") == true)
    stage.wait(3)
    stage.register()
    for (state, seconds) in [
      ("driver_en_route", 897), ("driver_arrived", 1500), ("ride_started", 300),
      ("ride_completed", 1500),
    ] as [(String, Int64)] {
      stage.run(for: .seconds(seconds))
      stage.state(state)
    }
    stage.run(for: .seconds(3600))
    #expect(stage.wire.last?.event == "end" && stage.wire.last?.status == "ride_completed")
    #expect((8...20).contains(stage.wire.count), "\(stage.wire.count)")
    for (one, next) in zip(stage.wire, stage.wire.dropFirst()) where one.event == "update" {
      #expect(next.at.epochSeconds < one.staleDate ?? 0, "never outdated on the screen")
    }
    #expect(stage.memo.starts.isEmpty && stage.memo.awaitedStarts.isEmpty)
  }

  /// What happens between the start event and the opening, in seconds from the start and the pickup
  /// that the ride has then, and when a start leaves, if at all.
  private static let changes: [(String, [(at: Int64, pickup: Int64?)], Double?)] = [
    ("nothing", [], opens), ("earlier", [(3600, 7200)], 7200 - 2700),
    ("so early that it opens at once", [(3600, 3700)], 3600),
    ("later", [(3600, 14 * 3600)], opens + 3600),
    ("no pickup", [(3600, nil)], 3600),
  ]

  @Test(arguments: changes.indices)
  func `R122: the start follows the pickup`(index: Int) {
    let (name, changes, expected) = Self.changes[index]
    var stage = reserved()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.isEmpty)
    for change in changes {
      stage.run(for: .seconds(change.at))
      stage.ride.pickupAt = change.pickup.map { Self.evening + .seconds($0) }
      stage.emit("ride_updated")
    }
    stage.run(for: .seconds(15 * 3600))
    #expect(stage.wire.first?.seconds == expected, "\(name)")
    #expect(stage.wire.count == 1, "\(name)")
  }

  @Test func `R122: a ride that ends before gets no card, and the ledger has why`() {
    var stage = reserved()
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    stage.state("cancelled")
    stage.run(for: .seconds(15 * 3600))
    #expect(stage.wire.isEmpty && stage.memo.awaitedStarts.isEmpty)
    #expect(stage.reasons == ["suppressed: the ride is over already"])
  }

  @Test func `R122: a start event after the opening, and a ride without a pickup, start at once`() {
    for pickup in [Self.evening + .seconds(60), nil] {
      var stage = reserved()
      stage.ride.pickupAt = pickup
      stage.state("driver_assigned")
      stage.run()
      #expect(stage.wire.map(\.event) == ["start"])
    }
  }

  @Test func `R122: an opening that is no time starts nothing, and the ledger names it`() {
    var stage = reserved()
    stage.life.from = CardOpening(.attribute(["gate"]))
    stage.ride.attributes = #"{"gate": "soon"}"#
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.reasons == [#"suppressed: attributes.gate "soon" is not a time"#])
  }

  @Test(arguments: CardStage.Crash.allCases)
  func `R122: a crash at the opening starts one card at most`(crash: CardStage.Crash) {
    var stage = reserved()
    stage.state("driver_assigned")
    stage.run(for: .seconds(Int64(Self.opens) - 1))
    stage.wait(1)
    stage.claim(crash: crash)
    stage.wait(20)
    stage.run(for: .seconds(600))
    #expect(stage.wire.count == (crash == .afterJournal ? 0 : 1))
    #expect(stage.memo.awaitedStarts.isEmpty)
  }
}

/// A card that has ended leaves room for another one.
@Suite("The next card of a ride") struct NextCardTests {
  /// A ride whose card was started by push and ended by an event that leaves the ride active.
  private func ended() -> CardStage {
    var stage = CardStage()
    stage.life.end = ["eta_changed"]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    stage.wait(2)
    stage.register()
    stage.run(for: .seconds(60))
    stage.emit("eta_changed")
    return stage
  }

  @Test func `R123: a later start event starts a new card`() {
    var stage = ended()
    stage.run(for: .seconds(10))
    #expect(stage.cards.isEmpty)
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.wire.filter { $0.event != "update" }.map(\.event) == ["start", "end", "start"])
  }

  @Test func `R123: while the end is tried again there is no second card, and then there is`() {
    var stage = ended()
    stage.run { _ in .refused(503, "Shutdown") }
    stage.state("driver_assigned")
    stage.run { _ in .refused(503, "Shutdown") }
    #expect(stage.memo.awaitedStarts.count == 1)
    stage.run(for: .seconds(100))
    #expect(stage.wire.filter { $0.event != "update" }.map(\.event) == ["start", "end", "start"])
    #expect(stage.memo.awaitedStarts.isEmpty)
  }

  @Test func `R123: a start event right after the end keeps the card`() {
    var stage = ended()
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(!stage.wire.contains { $0.event == "end" })
    #expect(stage.wire.count { $0.event == "start" } == 1)
  }

  @Test func `R123: a card that the person dismissed is not started again`() {
    var stage = ended()
    stage.events = []
    stage.cards[0].isGone = true
    stage.emit("card_ended")
    stage.emit("eta_changed")
    stage.run(for: .seconds(10))
    stage.state("driver_assigned")
    stage.run(for: .seconds(10))
    #expect(stage.wire.count { $0.event == "start" } == 1)
  }
}
