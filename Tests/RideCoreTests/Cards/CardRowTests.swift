import Testing

@testable import RideCore

/// The ledger rows of a card's pushes.
@Suite("Rows of cards") struct CardRowTests {
  @Test func `R41: the row of a push keeps one event time over all attempts`() throws {
    var stage = CardStage()
    stage.register()
    stage.run(for: .seconds(1))
    stage.eta(1)
    stage.wait(30)
    stage.claim { _ in .refused(503, "Shutdown") }
    stage.wait(1)
    stage.state("driver_arrived")
    stage.run(for: .seconds(60))
    let row = try #require(stage.wire.last.flatMap { stage.ledger[$0.push.entry.id] })
    #expect(stage.wire.last?.status == "driver_arrived")
    #expect(row.status == .accepted && row.attempts == 2 && row.event.name == "ride_updated")
    // The same holds for an end.
    stage.state("ride_completed")
    stage.claim { _ in .refused(503, "Shutdown") }
    stage.wait(5)
    stage.register("cb", card: .activity(1))
    stage.run(for: .seconds(60))
    #expect(stage.wire.last?.event == "end")
    #expect(stage.doubled.isEmpty)
  }
}
