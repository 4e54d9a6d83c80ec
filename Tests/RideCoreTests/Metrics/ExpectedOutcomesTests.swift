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

  /// The reasons that only explain one push, and that no alert watches.
  private static let explanations = """
    covered_by_card no_phone no_owner other_owner no_start_token card_there phone_disabled
    phone_quarantined memo_full ride_not_found left_states condition_false condition_error ride_over
    rule_gone card_gone no_channel rule_broadcasts set_too_late next_was_due missed capped bad_token
    card_too_old card_pending unreadable_frame missing_value not_a_time not_a_number not_a_currency
    card_type card_too_large card_field_dropped unknown_time_zone over_budget ride_silent ride_unread
    settlement_check seen emitted opted_out over_cap paused discarded
    no_receiver receiver_gone apple_only reserved_key alerts_off
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  @Test func `each code that the ledger can hold counts from 0, or only explains`() {
    var escalating = Sample.rule("offer", on: ["offer"])
    escalating.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "unseen")
    let rules = RuleSet(activeStates: [], finalStates: [], events: [], rules: [escalating])
    let lines = ExpectedOutcomes(of: rules, apps: [.customer]).lines
    #expect(Set(lines).count == lines.count)
    let counted = Set(lines.map(\.reason))
    let words = ExpectedOutcomes.codes.map(\.word)
    #expect(Set(words).count == words.count)
    #expect(words.filter { !counted.contains($0) }.sorted() == Self.explanations.sorted())
    for word in FCMReason.table.keys { #expect(counted.contains(word), "\(word)") }
    #expect(
      lines.filter { $0.reason == "no_service_account" }.map(\.status) == [.rejected, .suppressed])
  }

  @Test func `U17: what waits as its rule states counts from 0`() {
    var escalating = Sample.rule("offer", on: ["offer"])
    escalating.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "unseen")
    let rules = RuleSet(activeStates: [], finalStates: [], events: [], rules: [escalating])
    let lines = ExpectedOutcomes(of: rules, apps: [.customer]).lines.filter(\.waitsByRule)
    #expect(
      lines.map { "\($0.pushType) \($0.reason)" }.sorted() == [
        "alert quiet_hours", "alert waiting", "escalation waiting_for_receipt",
      ])
  }

  @Test func `U17: rules that changes of a ride fire count from 0 what leaves no row`() {
    var conditional = Sample.rule("eta", on: ["ride_updated"])
    conditional.when = .on(["ride_updated"], while: ["on_trip"])
    let other = Sample.rule("arrived", on: ["driver_arrived"])
    let rules = RuleSet(
      activeStates: [], finalStates: [], events: [], rules: [conditional, other])
    let expected = ExpectedOutcomes(of: rules, apps: [])
    #expect(expected.states == ["eta"] && expected.conditions.isEmpty)
  }

  @Test func `FCM's words count for what Android phones get alone`() {
    var located = Sample.rule("where")
    located.what = .toExtension(.location)
    let rules = RuleSet(activeStates: [], finalStates: [], events: [], rules: [located])
    let lines = ExpectedOutcomes(of: rules, apps: [.customer]).lines
    let types = lines.filter { $0.reason == "UNREGISTERED" }.map(\.pushType)
    #expect(types == ["alert"])
    #expect(lines.contains { $0.pushType == "location" && $0.reason == "Unregistered" })
  }
}
