import Testing

@testable import Base
@testable import RideCore

@Suite("R82: a card that its owner has turned off") struct CardTopicTests {
  private func running() -> CardStage {
    var stage = CardStage()
    stage.topic = "card"
    stage.register()
    stage.state("driver_assigned")
    stage.run()
    stage.wait(60)
    return stage
  }

  @Test func `ends at once and leaves the lock screen`() throws {
    var stage = running()
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.emit("preference_changed")
    stage.run()
    let last = try #require(stage.wire.last)
    #expect(last.event == "end")
    #expect(last.dismissalDate == stage.now.epochSeconds)
    let row = try #require(stage.ledger[last.push.entry.id])
    #expect(row.status == .accepted)
    #expect(row.reason?.text == "the owner has turned card off")
    #expect(stage.gone.map(\.reason) == ["ended"])
  }

  @Test func `of another topic, owner or app goes on`() {
    for optOut in [
      OptOut(app: .customer, owner: "c", topic: "news"),
      OptOut(app: .customer, owner: "e", topic: "card"),
      OptOut(app: .driver, owner: "c", topic: "card"),
    ] {
      var stage = running()
      stage.optOuts = [optOut]
      stage.emit("preference_changed")
      stage.run(for: .seconds(3600))
      #expect(!stage.wire.contains { $0.event == "end" })
    }
  }

  @Test func `leaves its alert to the rule`() {
    var stage = running()
    stage.others = [Sample.rule("arrived", body: "here")]
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.suffix(2).map(\.isCard).sorted { $0 && !$1 } == [true, false])
    #expect(stage.wire.last { $0.isCard }?.title == nil)
  }

  @Test func `is not started until it is on again`() {
    var stage = CardStage(start: ["driver_assigned", "driver_arrived"])
    stage.topic = "card"
    stage.offerStart()
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.wire.isEmpty)
    #expect(stage.reasons == ["suppressed: the owner has turned card off"])
    stage.optOuts = []
    stage.state("driver_arrived")
    stage.run()
    #expect(stage.wire.map(\.event) == ["start"])
  }

  @Test func `is the reason for no start, also of a person without a token`() {
    var stage = CardStage()
    stage.topic = "card"
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.reasons == ["suppressed: the owner has turned card off"])
  }

  @Test func `a start that is retried asks again`() {
    var stage = CardStage()
    stage.topic = "card"
    stage.offerStart()
    stage.state("driver_assigned")
    stage.claim { _ in .refused(Refusal(status: 503)) }
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.wait(10)
    stage.run()
    #expect(stage.wire.isEmpty)
    #expect(stage.ledger.values.map(\.reason?.code) == [.engine(.optedOut)])
  }
}
