import Testing

@testable import Base
@testable import RideCore

/// What an ended card shows, how long content stays fresh by state, and which events are urgent.
@Suite("The end of a card") struct CardEndTests {
  private func stage(_ changes: [String: PayloadTemplate]) -> CardStage {
    var stage = CardStage()
    stage.life.end = ["eta_changed", "cancelled"]
    stage.life.endContents = ["eta_changed": changes]
    stage.register()
    stage.run(for: .seconds(30))
    return stage
  }

  @Test func `R124: the last content has the fields of its end, and the others as they are`() {
    var stage = stage(["status": .literal(.string("no_driver_found"))])
    stage.ride.attributes = #"{"eta": 7}"#
    stage.emit("eta_changed")
    stage.run()
    #expect(stage.wire.last?.event == "end")
    #expect(stage.wire.last?.status == "no_driver_found" && stage.wire.last?.eta == 7)
  }

  @Test func `R124: another end shows the content as it is`() {
    var stage = stage(["status": .literal(.string("no_driver_found"))])
    stage.state("cancelled")
    stage.run()
    #expect(stage.wire.last?.event == "end" && stage.wire.last?.status == "cancelled")
  }

  @Test func `R124: a field that can't be rendered does not keep the card from ending`() {
    var stage = stage(["status": .value(Sample.text("{{ride.attributes.nothing}}"))])
    stage.emit("eta_changed")
    stage.run()
    #expect(stage.wire.last?.event == "end" && stage.wire.last?.status == "requested")
    #expect(
      stage.reasons.contains(
        "accepted: ended with its content as it was: missing ride.attributes.nothing"))
  }

  @Test func `R125: the stale date is that of the ride's state`() {
    var stage = CardStage(start: [])
    stage.life.staleAfter = .seconds(300)
    stage.life.staleAfterByState = ["ride_started": .seconds(1200)]
    stage.register()
    stage.run(for: .seconds(10))
    stage.state("ride_started")
    stage.run(for: .seconds(3600))
    let spans = stage.wire.map { ($0.staleDate ?? 0) - $0.at.epochSeconds }
    #expect(spans.first == 300 && Set(spans.dropFirst()) == [1200])
    #expect(stage.wire.count <= 6, "an unchanged card is refreshed each 15 minutes")
  }

  @Test func `R125: a state with a shorter time makes an unchanged card be refreshed sooner`() {
    var stage = CardStage(start: [])
    stage.life.contentState = ["eta": .literal(.integer(1))]
    stage.life.staleAfter = .seconds(1200)
    stage.life.staleAfterByState = ["driver_en_route": .seconds(120)]
    stage.register()
    stage.run(for: .seconds(60))
    stage.state("driver_en_route")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.seconds) == [0, 90])
  }

  @Test func `R126: an event that a rule emits makes the card urgent`() {
    var stage = CardStage(start: [])
    stage.life.urgent = ["eta_changed"]
    stage.others = [
      Rule(
        name: "jump", app: .customer, when: .on(["ride_updated"]), what: .emit("eta_changed"),
        expires: .ofEmit, source: "sample.yaml:9")
    ]
    stage.register()
    stage.run(for: .seconds(2))
    stage.eta(9)
    stage.run()
    stage.emit("eta_changed")
    stage.run(for: .seconds(1))
    #expect(stage.wire.map(\.eta) == [0, 9] && stage.wire.last?.priority == 10)
    #expect(stage.wire.last?.seconds ?? 99 < 3, "it does not wait for min-interval")
  }

  @Test func `a change that left at priority 5 leaves again for the urgent event that it causes`() {
    var stage = CardStage(start: [])
    stage.life.urgent = ["eta_jumped"]
    stage.register()
    stage.run(for: .seconds(30))
    stage.eta(9)
    stage.run()
    stage.emit("eta_jumped")
    stage.run(for: .seconds(1))
    #expect(stage.wire.map(\.eta) == [0, 9, 9])
    #expect(stage.wire.map(\.priority) == [5, 5, 10])
    stage.emit("eta_jumped")
    stage.run(for: .seconds(1))
    #expect(stage.wire.count == 3, "what left at priority 10 is not sent again")
  }

  @Test func `an urgent event without a change sends nothing once min-interval is over`() {
    var stage = CardStage(start: [])
    stage.life.urgent = ["eta_jumped"]
    stage.register()
    stage.eta(9)
    stage.run(for: .seconds(30))
    stage.emit("eta_jumped")
    stage.run(for: .seconds(10))
    #expect(stage.wire.map(\.priority) == [5])
  }
}
