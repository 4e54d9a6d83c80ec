import Foundation
import Testing

@testable import Base
@testable import RideCore

/// Values that no ride produces, but that a row may contain.
@Suite("Limits") struct EdgeTests {
  @Test func `a memo that has counted to the end of numbers counts no further`() throws {
    var stage = CardStage()
    stage.register()
    stage.offerStart()
    stage.claim { _ in .refused(503, "Shutdown") }
    var card = try #require(stage.memo.cards[.activity(1)])
    (card.failures, card.number, card.timestamp) = (.max, .max, .max)
    card.retryAt = nil
    stage.memo.cards[.activity(1)] = card
    let push = LedgerEntry(
      id: PushID(of: "a"), event: Sample.event(), rule: "told", app: .customer, pushType: .alert,
      status: .pending, attempts: .max, phone: 1)
    stage.memo.waiting = [WaitingItem(entry: push, wait: .retry(at: stage.now))]
    stage.memo.starts[1] = StartMemo(entry: push, owner: "c", shown: nil, isOpen: true)
    var announced = Sample.rule()
    announced.name = "told"
    stage.others = [announced]
    for _ in 0..<3 {
      stage.claim { _ in .refused(503, "Shutdown") }
      stage.wait(120)
    }
    stage.claim()
    stage.state("ride_completed")
    stage.claim()
    #expect(stage.memo.cards.isEmpty)
    #expect(stage.ledger.values.allSatisfy { $0.attempts == .max || $0.attempts < 10 })
  }

  @Test func `a heartbeat that began before all time is not due for ever`() {
    var stage = AgendaStage(.every(.seconds(300)), while: ["requested"])
    stage.ride.updatedAt = Timestamp(microseconds: .min)
    for minutes in [0, 1, 2.0] {
      let due = stage.claim(at: minutes)
      #expect(due ?? .infinity > minutes)
    }
    #expect(stage.tally.remainder == 0)
  }
}
