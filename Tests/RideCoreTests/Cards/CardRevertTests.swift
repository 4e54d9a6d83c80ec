import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Changes of a card that the ride takes back before they have arrived.
@Suite struct CardRevertTests {
  private static let unavailable = PushOutcome.refused(
    Refusal(status: 503, reason: "ServiceUnavailable"))

  /// A card that shows an ETA of 0, on an iPhone or an Android phone.
  private func shown(isAndroid: Bool) -> CardStage {
    var stage = isAndroid ? CardStage.android() : CardStage()
    if !isAndroid { stage.register() }
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    return stage
  }

  private func states(_ stage: CardStage, isAndroid: Bool) -> [Int64?] {
    isAndroid ? stage.messages.map(\.eta) : stage.wire.map(\.eta)
  }

  @Test(arguments: [false, true])
  func `a change that did not arrive and is taken back leaves no row that waits`(isAndroid: Bool) {
    var stage = shown(isAndroid: isAndroid)
    let sent = states(stage, isAndroid: isAndroid)
    stage.eta(1)
    stage.claim { _ in Self.unavailable }
    #expect(stage.ledger.values.contains { $0.status == .pending })
    stage.wait(1)
    stage.eta(0)
    stage.run(for: .seconds(30))
    #expect(states(stage, isAndroid: isAndroid) == sent)
    #expect(!stage.ledger.values.contains { $0.status == .pending }, "\(stage.reasons)")
    #expect(stage.reasons.contains("superseded: superseded by what came after it"))
    // The next change has an ID of its own, and is not delayed by the one before.
    stage.eta(2)
    stage.run(for: .seconds(1))
    #expect(states(stage, isAndroid: isAndroid) == sent + [2])
    #expect(stage.doubled.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a change that may have arrived and is taken back is taken back on the phone`(
    isAndroid: Bool
  ) {
    var stage = shown(isAndroid: isAndroid)
    let sent = states(stage, isAndroid: isAndroid)
    stage.eta(1)
    stage.claim { _ in .unanswered(.timeout) }
    stage.wait(1)
    stage.eta(0)
    stage.run(for: .seconds(30))
    #expect(states(stage, isAndroid: isAndroid) == sent + [1, 0])
    #expect(!stage.ledger.values.contains { $0.status == .pending }, "\(stage.reasons)")
  }

  @Test func `a refresh that did not arrive is tried again, and is not dropped`() {
    var stage = shown(isAndroid: false)
    let count = stage.wire.count
    var refusals = 2
    stage.run(for: .seconds(120)) { _ in
      refusals -= 1
      return refusals >= 0 ? Self.unavailable : .accepted
    }
    #expect(stage.wire.count == count + 1, "\(stage.wire.map(\.seconds))")
    #expect(!stage.reasons.contains { $0.hasPrefix("superseded") })
  }
}
