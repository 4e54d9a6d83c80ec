import Base
import RideCore
import Testing

@testable import Orchestrator

@Suite struct TokenSuspicionTests {
  private static func refused(_ reason: String) -> PushOutcome {
    .refused(Refusal(status: 400, reason: reason))
  }

  private func suspicion(_ outcomes: [(PushOutcome, Int64)]) -> TokenSuspicion {
    var suspicion = TokenSuspicion()
    for (outcome, phone) in outcomes { suspicion.record(outcome, of: phone) }
    return suspicion
  }

  /// (reason, phones refused one after another, whether the configuration is suspected)
  @Test(
    arguments: [
      ("DeviceTokenNotForTopic", [1, 1, 1, 1], false), ("BadDeviceToken", [1, 1, 1, 1], false),
      ("DeviceTokenNotForTopic", [1, 2], true), ("BadDeviceToken", [1, 2], true),
      ("DeviceTokenNotForTopic", [1, 1, 2, 1], true), ("Unregistered", [1, 2, 3], false),
      ("PayloadTooLarge", [1, 2, 3], false), ("BadDeviceToken", [], false),
    ] as [(String, [Int64], Bool)])
  func `R100 two phones refused in a row put the configuration in doubt`(
    reason: String, phones: [Int64], isDoubtful: Bool
  ) {
    let found = suspicion(phones.map { (Self.refused(reason), $0) })
    #expect(found.isOfConfiguration == isDoubtful)
  }

  @Test func `R100 an accepted push clears the configuration`() {
    let bad = Self.refused("DeviceTokenNotForTopic")
    #expect(!suspicion([(bad, 1), (bad, 2), (.accepted, 3)]).isOfConfiguration)
    #expect(!suspicion([(bad, 1), (.accepted, 3), (bad, 2)]).isOfConfiguration)
    #expect(suspicion([(bad, 1), (.unanswered(.timeout), 3), (bad, 2)]).isOfConfiguration)
  }

  @Test func `R100 lanes are judged separately, and a card proves nothing about tokens`() {
    var lanes = Lanes()
    let production = PushLane(network: .production, app: .customer)
    let now = Timestamp(epochSeconds: 1_800_000_000)
    let bad = Self.refused("DeviceTokenNotForTopic")
    for phone in [1, 2] as [Int64] {
      _ = lanes.record(bad, of: production, to: .phone(phone), at: now)
    }
    let other = PushLane(network: .production, app: .driver)
    _ = lanes.record(.accepted, of: other, to: .phone(9), at: now)
    _ = lanes.record(.accepted, of: production, to: .card, at: now)
    #expect(lanes.doubtful == [production])
    _ = lanes.record(.accepted, of: production, to: .phone(1), at: now)
    #expect(lanes.doubtful.isEmpty)
  }
}
