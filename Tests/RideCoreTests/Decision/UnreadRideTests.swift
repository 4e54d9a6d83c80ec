import Testing

@testable import RideCore

/// Tests of rides whose row of an attached table changed and could not be read since.
@Suite("Unread rides") struct UnreadRideTests {
  private static let kinds: [Timing.Slots] = [
    .every(.seconds(600)),
    .times([RuleTime(.ride(.pickupAt), by: .seconds(-1200))]),
  ]

  @Test(arguments: kinds.indices)
  func `U8: no clock rule fires until the row is read again`(kind: Int) {
    var stage = AgendaStage(Self.kinds[kind], while: ["driver_arrived"])
    stage.pickup(30, at: 0)
    stage.state("driver_arrived", at: 0)
    stage.claim(at: 0)
    stage.ride.isUnread = true
    stage.run(until: 25, from: 15)
    #expect(stage.slots == [])
    #expect(stage.reasons == ["the ride's row changed and can't be read"])
    #expect(stage.tally.skipped == 1 && stage.tally.remainder == 0)
    stage.ride.isUnread = false
    stage.emit("ride_watched", at: 26)
    stage.run(until: 45, from: 26)
    // Only a heartbeat is due again, a period later.
    #expect(stage.minutes.count == (kind == 0 ? 1 : 0) && stage.minutes.allSatisfy { $0 >= 36 })
    #expect(stage.tally.remainder == 0)
  }
}
