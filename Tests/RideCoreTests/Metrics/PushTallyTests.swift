import Foundation
import Testing

@testable import Base
@testable import RideCore

@Suite("A tally of pushes") struct PushTallyTests {
  private func entry(
    _ status: LedgerEntry.Status, _ word: String? = nil, after seconds: Double = 0,
    app: App = .customer
  ) -> LedgerEntry {
    let at = Sample.now - .microseconds(Int64(seconds * 1e6))
    return LedgerEntry(
      id: PushID(of: "x"), event: RideEvent(id: 1, name: "e", at: at), rule: "r", app: app,
      pushType: .alert, status: status,
      reason: word.map { LedgerReason(LedgerReason.Code(word: $0), "a text for people") },
      attempts: 1)
  }

  private func tally(_ entries: [LedgerEntry]) -> PushTally {
    var tally = PushTally()
    let settlement = Settlement(
      rideID: "r1", entries: entries)
    tally.add([settlement], at: Sample.now)
    return tally
  }

  @Test func `counts verdicts by app, type, status and reason`() {
    let tally = tally([
      entry(.accepted, "ride_silent"), entry(.accepted), entry(.accepted, app: .driver),
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

  @Test func `counts accepted pushes only`() throws {
    let tally = tally([
      entry(.accepted, after: 0.005), entry(.accepted, after: 0.0051), entry(.accepted, after: 1e6),
      entry(.accepted, after: -3), entry(.rejected, "BadTopic", after: 7),
    ])
    let delay = try #require(tally.delays.first)
    #expect(tally.delays.count == 1)
    #expect(delay.times.counts == [2, 1] + Array(repeating: 0, count: 12) + [1])
    #expect(abs(delay.times.seconds - 1_000_000.0101) < 1e-6)
  }

  @Test func `counts cards by priority, and those beyond the budget`() {
    var urgent = entry(.accepted)
    urgent.cardEvent = .update
    urgent.priority = .immediate
    var over = entry(.accepted, "over_budget")
    over.cardEvent = .update
    over.priority = .powerAware
    var dropped = over
    dropped.reason = LedgerReason(.cardFieldDropped, "sent as null: x")
    let tally = tally([urgent, over, urgent, dropped])
    #expect(
      Set(tally.cards.map { "\($0.key.event) \($0.key.priority): \($0.value)" })
        == ["update 10: 2", "update 5: 2"])
    #expect(tally.overBudget == [.customer: 1])
    #expect(tally.droppedFields == [.customer: 1])
  }

  @Test(
    arguments: [
      ("waiting", true), ("waiting_for_receipt", true), ("quiet_hours", true),
      ("lane_paused", false), ("InternalServerError", false),
    ])
  func `U17: what waits as its rule states is not tried again`(_ reason: String, _ waits: Bool) {
    #expect(tally([entry(.pending, reason)]).lines.map(\.line.waitsByRule) == [waits])
    #expect(tally([entry(.suppressed, reason)]).lines.map(\.line.waitsByRule) == [false])
  }

  @Test func `U17: verdicts are counted by rule, and those of other rules together`() {
    func entries(_ rule: String, _ statuses: LedgerEntry.Status...) -> [LedgerEntry] {
      statuses.map { status in
        var entry = entry(status)
        entry.rule = rule
        return entry
      }
    }
    var tally = PushTally()
    tally.name(RuleSet(activeStates: [], finalStates: [], events: [], rules: [Sample.rule("a")]))
    let settlement = Settlement(
      rideID: "r1",
      entries: entries("a", .accepted, .pending, .accepted) + entries("gone", .rejected)
        + entries("a", .expired) + entries("", .suppressed))
    tally.add([settlement], at: Sample.now)
    #expect(tally.rules.names == ["_other", "a"])
    let counts = tally.rules.counts.map { counts in
      zip(RuleTally.statuses, counts).filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
    }
    #expect(counts == [["rejected 1", "suppressed 1"], ["accepted 2", "expired 1"]])
  }

  @Test func `U17: the number of rules that are counted by name is limited`() {
    var tally = RuleTally()
    tally.name(["a", "b", "a"])
    tally.name((0..<RuleTally.ruleLimit).map { "rule \($0)" })
    #expect(Array(tally.names.prefix(4)) == ["_other", "a", "b", "rule 0"])
    #expect(tally.names.count == RuleTally.ruleLimit + 1)
    var late = entry(.accepted)
    late.rule = "rule \(RuleTally.ruleLimit - 1)"
    tally.add(late)
    #expect(tally.counts[0] == [1, 0, 0, 0, 0, 0])
  }
}

@Suite struct LedgerReasonTests {
  static let codes =
    LedgerReason.Engine.allCases.map { LedgerReason.Code.engine($0) }
    + APNsReason.table.filter { $0.value.rule != nil }.keys.sorted().map { .service($0) } + [
      .status(418), .status(599),
    ]

  @Test(arguments: codes)
  func `each code has a word of its own, which reads back`(code: LedgerReason.Code) throws {
    #expect(LedgerReason.Code(word: code.word) == code)
    #expect(Self.codes.filter { $0.word == code.word } == [code])
    let reason = LedgerReason(code, "a \"text\"\u{1}")
    let json = reason.storedText
    #expect(try LedgerReason(storedText: json) == reason)
  }

  @Test(arguments: ["", "HTTP", "HTTP x", "of a later version", "the phone is disabled"])
  func `an unknown word is other`(word: String) {
    #expect(LedgerReason.Code(word: word) == .engine(.unlisted))
  }

  @Test func `an Apple reason is its own code, and an undocumented one is other`() {
    #expect(LedgerReason(Refusal(status: 400, reason: "BadTopic")).code == .service("BadTopic"))
    #expect(LedgerReason(Refusal(status: 418)).code == .status(418))
    let long = LedgerReason(
      Refusal(status: 400, reason: "\0" + String(repeating: "x", count: 999)))
    #expect(long.code == .engine(.unlisted))
    #expect(long.text.utf8.count <= 300 && !long.text.utf8.contains(0))
  }

  @Test func `a doubt changes the text, and not the code`() {
    var entry = LedgerEntry(
      id: PushID(of: "x"), event: RideEvent(id: 1, name: "e", at: Sample.now), rule: "r",
      app: .customer, pushType: .alert, status: .pending, attempts: 1)
    entry.doubt = .unanswered
    entry.end(.expired, .validUntil(Sample.now))
    #expect(entry.status == .uncertain && entry.reason?.code == .engine(.outOfTime))
    #expect(entry.reason?.text.hasSuffix(LedgerEntry.Doubt.unanswered.rawValue) == true)
  }
}
