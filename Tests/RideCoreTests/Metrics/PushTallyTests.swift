import Testing

@testable import RideCore

@Suite struct `A tally of pushes` {
  private func entry(
    _ status: LedgerEntry.Status, _ reason: String? = nil, after seconds: Double = 0,
    app: App = .customer
  ) -> LedgerEntry {
    let at = Sample.now - .microseconds(Int64(seconds * 1e6))
    return LedgerEntry(
      id: PushID(of: "x"), event: RideEvent(id: 1, name: "e", at: at), rule: "r", app: app,
      pushType: .alert, status: status, reason: reason, attempts: 1)
  }

  private func tally(_ entries: [LedgerEntry]) -> PushTally {
    var tally = PushTally()
    let settlement = Settlement(
      rideID: "r1", consumed: [], entries: entries, gone: [], memo: Memo(), tallies: [:],
      nextDue: nil, isOver: false)
    tally.add([settlement], at: Sample.now)
    return tally
  }

  @Test func `counts verdicts by app, type, status and reason`() {
    let tally = tally([
      entry(.accepted, "a note"), entry(.accepted), entry(.accepted, app: .driver),
      entry(.rejected, "BadDeviceToken"), entry(.pending, "InternalServerError"), entry(.accepted),
    ])
    let lines = tally.lines.map {
      "\($0.line.app) \($0.line.status) \($0.line.reason): \($0.count)"
    }
    #expect(
      lines == [
        "customer accepted : 3", "driver accepted : 1", "customer rejected BadDeviceToken: 1",
        "customer pending InternalServerError: 1",
      ])
  }

  @Test func `measures what was accepted, and nothing else`() throws {
    let tally = tally([
      entry(.accepted, after: 0.005), entry(.accepted, after: 0.0051), entry(.accepted, after: 1e6),
      entry(.accepted, after: -3), entry(.rejected, "BadTopic", after: 7),
    ])
    let delay = try #require(tally.delays.first)
    #expect(tally.delays.count == 1)
    #expect(delay.counts == [2, 1] + Array(repeating: 0, count: 12) + [1])
    #expect(abs(delay.seconds - 1_000_000.0101) < 1e-6)
  }

  @Test func `counts cards by priority, and those beyond the budget`() {
    var urgent = entry(.accepted)
    urgent.cardEvent = .update
    urgent.priority = .immediate
    var over = entry(.accepted, "\(CardStateMachine.overBudget)20 urgent pushes in an hour")
    over.cardEvent = .update
    over.priority = .powerAware
    let tally = tally([urgent, over, urgent])
    #expect(
      Set(tally.cards.map { "\($0.key.event) \($0.key.priority): \($0.value)" })
        == ["update 10: 2", "update 5: 1"])
    #expect(tally.overBudget == [.customer: 1])
  }

  @Test(
    arguments: [
      (nil, ""), ("", ""), ("BadDeviceToken", "BadDeviceToken"), ("HTTP 418", "HTTP 418"),
      ("HTTP 418 and more", "other"), ("HTTP 9", "other"), ("no phone of customer c17", "no_phone"),
      ("true until 2026-11-21T10:00:00Z; an earlier attempt was not answered", "out_of_time"),
      ("superseded by driver_arrived", "superseded"), ("x\n\"y\"", "other"),
    ] as [(String?, String)])
  func `few words stand for all reasons`(reason: String?, word: String) {
    #expect(ReasonWord.of(entry(.suppressed, reason)) == word)
    #expect(ReasonWord.of(entry(.accepted, reason)) == "")
  }

  /// Each of the engine's own reasons has its own word; these reasons were recorded in a run.
  @Test func `the engine's own reasons are known`() {
    let reasons =
      [UnsentCause.closed, .queuedTooLong, .refusedStream, .goAway(reason: nil)].map(\.text)
      + [UnansweredCause.timeout, .connectionLost("x"), .reset("CANCEL")].map(\.text)
      + [UnsentCause.paused(for: .seconds(1)).text, UnsentCause.noConnection("x").text]
    let ofSlots = [
      "it had passed when it was set", "too late, the next was due (2 slots up to this one)",
      "missed: nobody looked in time", "beyond the 3 slots that missed: all makes up for",
    ]
    for reason in reasons + ofSlots {
      #expect(ReasonWord.of(entry(.expired, reason)) != "other", "\(reason)")
    }
  }
}
