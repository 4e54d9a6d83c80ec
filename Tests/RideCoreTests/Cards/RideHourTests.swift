import Testing

@testable import Base
@testable import RideCore

/// R27: sixty minutes with a new ETA every fifteen seconds and eight changes of phase.
@Suite("An hour's ride") struct RideHourTests {
  static let phases: [(minute: Int, state: String)] = [
    (0, "requested"), (2, "driver_assigned"), (5, "driver_en_route"), (14, "driver_arrived"),
    (17, "ride_started"), (30, "driver_arrived"), (33, "ride_started"), (59, "ride_completed"),
  ]

  @Test func `R27: phases at once, ticks folded, the budget kept, never stale, ended`() throws {
    var stage = CardStage(start: [])
    stage.life.urgent = Array(Set(Self.phases.map(\.state)).subtracting(["ride_completed"]))
    stage.life.minInterval = .seconds(40)
    stage.ride.state = nil
    stage.register()
    for tick in 0..<240 {
      if let phase = Self.phases.first(where: { $0.minute * 4 == tick }) {
        stage.state(phase.state)
      }
      if tick % 4 != 0 || stage.ride.state != "ride_completed" { stage.eta(tick) }
      stage.run(for: .seconds(15))
    }
    for phase in Self.phases {
      let at = Double(phase.minute * 60)
      let announced = stage.wire.first { $0.status == phase.state && abs($0.seconds - at) < 1 }
      #expect(announced?.priority == 10, "\(phase)")
    }
    #expect(stage.wire.filter { $0.priority == 10 }.count == Self.phases.count)
    let ticks = stage.wire.filter { $0.priority == 5 }
    for (one, next) in zip(stage.wire, stage.wire.dropFirst()) {
      #expect(next.timestamp > one.timestamp)
      #expect(next.at.epochSeconds < one.staleDate ?? .max)
      if next.priority == 5 { #expect(next.at - one.at >= .seconds(40)) }
    }
    #expect((60...90).contains(ticks.count), "\(ticks.count)")
    let last = try #require(stage.wire.last)
    #expect(last.event == "end" && last.status == "ride_completed")
    #expect(stage.due == nil && stage.cards.isEmpty)
  }
}
