import Testing

@testable import RideCore

@Suite struct ExpectedOutcomesTests {
  /// A counter that appears with its first event hides that event from the alert RidePulseEmitLimit.
  @Test func `a refused event counts from 0 for rules that emit, and for no push`() {
    var emitting = Sample.rule("relay", on: ["ping"])
    emitting.what = .emit("pong")
    var escalating = Sample.rule("offer", on: ["offer"])
    escalating.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "unseen")
    let rules = RuleSet(
      activeStates: [], finalStates: [], events: [], rules: [emitting, escalating, Sample.rule()])
    let lines = ExpectedOutcomes(of: rules, apps: [.customer]).lines
    let refused = lines.filter { $0.reason == LedgerReason.Engine.emitLimit.rawValue }
    #expect(refused.map(\.pushType) == ["emit", "escalation"])
    let idle = lines.filter { $0.reason == LedgerReason.Engine.noReceipts.rawValue }
    #expect(idle.map(\.pushType) == ["escalation"])
    #expect(refused.allSatisfy { $0.status == .suppressed && $0.app == .customer })
  }
}
