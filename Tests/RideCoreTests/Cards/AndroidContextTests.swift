import Testing

@testable import Base
@testable import RideCore

/// What the cards of several Android phones share in one decision.
@Suite struct AndroidContextTests {
  @Test func `the data of an event is parsed once for all phones`() throws {
    var stage = CardStage.android(1, 2, 3, 4)
    stage.condition = try Condition("contact == null")
    stage.data = ["note": .value(Sample.text("{{event.data.note}}"))]
    for name in ["driver_assigned", "eta_changed"] {
      stage.emit(name)
      stage.events[stage.events.count - 1].data = #"{"note": "\#(name)"}"#
    }
    var decider = Decider(view: stage.view, configuration: stage.configuration, now: stage.now)
    decider.run()
    #expect(decider.decision.pushes.count == 4)
    let events = decider.androidContexts.map(\.event)
    #expect(Set(events.map(\.name)).count == events.count, "each is there once")
    #expect(events.contains { $0.name == "driver_assigned" })
  }
}
