import Testing

@testable import Base
@testable import RideCore

/// The dismissal and relevance of cards by event, and cards that the app schedules.
@Suite("The life of a card") struct CardLifeTests {
  private func stage() -> CardStage {
    var stage = CardStage()
    stage.life.end = ["ride_completed", "cancelled", "payment_failed"]
    stage.life.dismissals = [
      "ride_completed": .seconds(900), "cancelled": .zero, "payment_failed": .seconds(60),
    ]
    stage.register()
    stage.run(for: .seconds(30))
    return stage
  }

  // MARK: Dismissal

  @Test(arguments: [("ride_completed", 900), ("cancelled", 0)])
  func `R101: each end has its own time on the screen`(state: String, seconds: Int64) {
    var stage = stage()
    stage.state(state)
    let endedAt = stage.now.epochSeconds
    stage.run()
    #expect(stage.wire.last?.event == "end")
    #expect(stage.wire.last?.dismissalDate == endedAt + seconds)
  }

  @Test func `R101: an event may end a card, too, and a failed end keeps its time`() {
    var stage = stage()
    stage.emit("payment_failed")
    let endedAt = stage.now.epochSeconds
    stage.run { _ in .refused(503, "Shutdown") }
    #expect(stage.memo.cards[.activity(1)]?.endedBy == "payment_failed")
    // Meanwhile the ride ends as well: the card is ended for the first reason.
    stage.wait(5)
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.last?.event == "end")
    #expect(stage.wire.last?.dismissalDate == endedAt + 60)
  }

  @Test(arguments: [Duration.seconds(600), nil])
  func `R101: an end without a time of its own has dismiss-after`(after: Duration?) {
    var stage = stage()
    stage.life.dismissals["cancelled"] = nil
    stage.life.dismissAfter = after
    stage.state("cancelled")
    let endedAt = stage.now.epochSeconds
    stage.run()
    #expect(stage.wire.last?.event == "end")
    #expect(stage.wire.last?.dismissalDate == after.map { endedAt + $0.components.seconds })
  }

  @Test func `R101: a card that is ended for its age has dismiss-after`() {
    var stage = stage()
    stage.run(for: LiveActivity.ageLimit)
    #expect(stage.wire.last?.event == "end")
    let endedAt = Sample.now.epochSeconds + LiveActivity.ageLimit.components.seconds
    #expect(stage.wire.last?.dismissalDate == endedAt + 600)
  }

  // MARK: Relevance

  private func scored() -> CardStage {
    var stage = CardStage()
    stage.life.relevanceScore = 10
    stage.life.relevance = ["driver_arrived": 100, "ride_started": 0.5]
    stage.register()
    stage.run(for: .seconds(30))
    return stage
  }

  @Test func `R101: a score stays until the next event that names one`() {
    var stage = scored()
    for event in ["driver_arrived", "eta_changed", "ride_started", "ride_completed"] {
      if event == "eta_changed" { stage.eta(7) } else { stage.state(event) }
      stage.run(for: .seconds(30))
    }
    #expect(stage.wire.map(\.score) == [10, 100, 100, 0.5, 0.5])
  }

  @Test func `R101: a card that is registered later has the score of the ride's state`() {
    var stage = CardStage()
    stage.life.relevance = ["driver_arrived": 100]
    stage.state("driver_arrived")
    stage.run()
    stage.wait(60)
    stage.register()
    stage.run()
    #expect(stage.wire.map(\.score) == [100])
  }

  @Test func `R101: a start has the score of its event`() {
    var stage = CardStage()
    stage.life.relevanceScore = 10
    stage.life.relevance = ["driver_assigned": 50]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.map(\.event) == ["start"] && stage.wire.map(\.score) == [50])
  }

  @Test func `R101: another score alone is sent, once`() {
    var stage = scored()
    stage.life.relevance["eta_changed"] = 70
    stage.emit("eta_changed")
    stage.run(for: .seconds(30))
    stage.emit("eta_changed")
    stage.run(for: .seconds(30))
    #expect(stage.wire.map(\.score) == [10, 70] && stage.wire.map(\.seconds) == [0, 30])
    #expect(stage.wire.map(\.status) == ["requested", "requested"])
  }

  @Test func `R101: without relevance a card's content has the fingerprint of earlier versions`() {
    var stage = CardStage()
    stage.register()
    stage.run()
    let content = PushID(of: #"{"eta":0,"status":"requested"}"#).description
    #expect(stage.memo.cards[.activity(1)]?.shown == content)
    #expect(stage.life.digest.hasSuffix("[\"driver_arrived\"]  []"))
  }

  @Test func `content that becomes wrong as the ride ends leaves one row for the end`() {
    var stage = CardStage()
    stage.life.contentState["plate"] = .value(Sample.text("{{ride.attributes.wheels}}"))
    stage.ride.attributes = #"{"wheels": "4"}"#
    stage.register()
    stage.run(for: .seconds(600))
    stage.ride.attributes = "{}"
    stage.state("ride_completed")
    let decision = decide(stage.view, by: stage.configuration, now: stage.now)
    let rows = (decision.pushes.map(\.entry) + decision.ended).map(\.id)
    #expect(rows.count == 2 && Set(rows).count == 2, "a settlement writes each row once")
    stage.run()
    #expect(stage.wire.last?.event == "end")
  }

  // MARK: Scheduled cards

  /// A card of a ride at noon tomorrow, which appears half an hour before.
  private func scheduled() -> CardStage {
    var stage = CardStage()
    stage.life.from = CardOpening(.pickupAt, offset: .seconds(-1800))
    stage.ride.pickupAt = Sample.now + .seconds(86_400)
    stage.register()
    return stage
  }

  private static let appears: Double = 86_400 - 1800

  @Test func `R101: a scheduled card is not refreshed, nor ended for its age, before it appears`() {
    var stage = scheduled()
    stage.run(for: .seconds(86_400))
    #expect(stage.wire.allSatisfy { $0.event == "update" })
    let times = stage.wire.map(\.seconds)
    #expect(times.first == 0 && times[1] == Self.appears + 90)
    #expect(times.dropFirst().count > 10, "from then on it is refreshed")
  }

  /// Changes of the pickup of a scheduled card, as seconds and hours from the start, and the pushes
  /// with their stale dates that a phone then has before the card appears and 100 s later.
  private static let appearances: [(String, [(at: Double, pickup: Double)], [(Double, Double)])] = [
    ("it appears fresh", [], [(0, 1920), (1890, 2010)]),
    ("earlier", [(60, 2700)], [(0, 1920), (990, 1110)]),
    ("at once", [(60, 600)], [(0, 1920), (150, 270)]),
    ("later", [(60, 4600)], [(0, 1920), (60, 2920), (2890, 3010)]),
    ("later, and back", [(60, 4600), (90, 3600)], [(0, 1920), (60, 2920), (1890, 2010)]),
  ]

  @Test(arguments: appearances.indices)
  func `R101: a scheduled card appears fresh, and stays so`(index: Int) {
    let (name, changes, expected) = Self.appearances[index]
    var stage = scheduled()
    stage.ride.pickupAt = Sample.now + .seconds(3600)
    var now = 0.0
    for change in changes {
      stage.run(for: .seconds(change.at - now))
      now = change.at
      stage.ride.pickupAt = Sample.now + .seconds(change.pickup)
      stage.emit("ride_updated")
    }
    let appearance = max(now, (changes.last?.pickup ?? 3600) - 1800)
    stage.run(for: .seconds(appearance + 100 - now))
    let found = stage.wire.map { ($0.seconds, Double($0.staleDate ?? 0) - start) }
    #expect(found.map(\.0) == expected.map(\.0), "\(name)")
    #expect(found.map(\.1) == expected.map(\.1), "\(name)")
    let shown = found.filter { $0.0 <= appearance }.map(\.1).max() ?? 0
    #expect(shown > appearance, "\(name): it would be stale when it appears")
  }

  private var start: Double { Double(Sample.now.epochSeconds) }

  /// A card that was scheduled by an earlier version has a stale date before its appearance.
  @Test func `R101: a card that would appear stale is refreshed before`() throws {
    var stage = scheduled()
    stage.run(for: .seconds(60))
    stage.memo.cards[.activity(1)]?.staleAt = Sample.now + .seconds(120)
    stage.emit("ride_updated")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.seconds) == [0, 60])
    let last = try #require(stage.wire.last?.staleDate)
    #expect(Double(last) - start == Self.appears + 120)
  }

  @Test func `R101: a clock that was set back leaves a scheduled card scheduled`() throws {
    var stage = scheduled()
    stage.run(for: .seconds(60))
    stage.now = Sample.now - .seconds(5)
    stage.emit("ride_updated")
    stage.claim()
    let since = try #require(stage.memo.cards[.activity(1)]?.since)
    #expect(since == Sample.now + .seconds(86_400 - 1800))
  }

  @Test func `R101: a change of the ride reaches a scheduled card at once`() {
    var stage = scheduled()
    stage.run(for: .seconds(60))
    stage.eta(7)
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.eta) == [0, 7])
  }

  @Test func `R101: a scheduled card follows the pickup until it has appeared`() {
    var stage = scheduled()
    stage.run(for: .seconds(60))
    stage.ride.pickupAt = Sample.now + .seconds(3600)
    stage.emit("ride_updated")
    stage.run(for: .seconds(1840))
    #expect(stage.wire.map(\.seconds) == [0, 1890])
    stage.ride.pickupAt = Sample.now + .seconds(86_400)
    stage.emit("ride_updated")
    stage.run(for: .seconds(1000))
    #expect(stage.wire.count > 8, "it is on the screen, and refreshed")
  }

  @Test func `R101: a scheduled card shows no alert, and holds none back`() {
    var stage = scheduled()
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.run(for: .seconds(60))
    stage.state("driver_arrived")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [true, true, false])
    #expect(stage.wire.filter { $0.title != nil }.map(\.isCard) == [false])
    #expect(stage.reasons.contains("suppressed: the card has not appeared yet"))
  }

  @Test func `R101: without a pickup time, a card is taken to have appeared`() {
    var stage = scheduled()
    stage.ride.pickupAt = nil
    stage.run(for: .seconds(600))
    #expect(stage.wire.count > 5)
  }

  @Test func `R101: a scheduled card ages from when it appears`() {
    var stage = scheduled()
    stage.run(for: .seconds(86_400) + LiveActivity.ageLimit)
    let end = stage.wire.first { $0.event == "end" }
    #expect(end?.seconds == Self.appears + Double(LiveActivity.ageLimit.components.seconds))
  }

  @Test func `a card that is stale within a second is not sent all the time`() throws {
    var stage = CardStage()
    stage.life.staleAfter = .seconds(1)
    stage.register()
    stage.wait(0.75)
    stage.claim()
    try #require(stage.due ?? stage.now > stage.now)
    stage.run(for: .seconds(10))
    #expect(stage.wire.count < 20)
  }
}

extension CardStage.Arrival {
  fileprivate var score: Double? {
    switch aps.value(at: ["relevance-score"]) {
    case .integer(let score): Double(score)
    case .number(let score): score
    default: nil
    }
  }
}
