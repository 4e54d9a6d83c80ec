import Base
import Testing

@testable import RideCore
@testable import Timeline

/// Pushes of which it is not decided yet if they are sent at all.
@Suite struct UndecidedPushTests {
  /// What keeps a push of the second event back.
  private static let kinds: [@Sendable (inout Rule) -> Void] = [
    { $0.delay(by: .seconds(120)) },
    { rule in
      // 2027-01-15T08:00 is in them.
      guard let from = QuietHours.TimeOfDay(text: "07:00"),
        let to = QuietHours.TimeOfDay(text: "08:02")
      else { return }
      rule.limits.topic = "t"
      rule.limits.quiet = QuietHours(from: from, to: to, zone: .ride, then: .hold)
    },
    { rule in
      rule.limits.topic = "t"
      rule.limits.cap = PushCap(count: 1, per: .seconds(600))
    },
  ]

  private struct Stage {
    var rules = [
      Sample.rule("plain", on: ["eta_changed"], collapse: "one"),
      Sample.rule("undecided", collapse: "one"),
    ]
    var view = Sample.view(events: [])
    var book = PermitBook()
    var entries: [PushID: LedgerEntry] = [:]

    @discardableResult
    mutating func decide(
      at seconds: Double, _ outcome: PushOutcome = .accepted, taken: Bool = false
    ) -> Decision {
      let now = Sample.now + .microseconds(Int64(seconds * 1e6))
      view.isTakenOver = taken
      let decision = RideCore.decide(view, by: Sample.book(rules), now: now) {
        book.refuse($0, at: now)
      }
      let settled = decision.settled(decision.pushes.map { _ in outcome }, now: now) { 0.9 }
      book.settle(settled.permits, at: now)
      for entry in settled.entries { entries[entry.id] = entry }
      view.apply(settled)
      return decision
    }

    func statuses(of rule: String) -> [LedgerEntry.Status] {
      entries.values.filter { $0.rule == rule }.map(\.status)
    }
  }

  @Test(arguments: kinds.indices)
  func `takes the place of no older push that is tried again`(kind: Int) {
    var stage = Stage()
    Self.kinds[kind](&stage.rules[1])
    stage.view.events = [Sample.event(1, "eta_changed")]
    stage.decide(at: 0, .refused(Refusal(status: 503, reason: "Shutdown")))
    // The topic has had its one push.
    stage.book.add(
      Permit(
        id: PushID(of: "other"), app: .customer, owner: "c", pushes: .topic("t"), ride: "r2",
        window: .seconds(600)),
      sentAt: Sample.now)
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: Sample.now)]
    stage.decide(at: 0.1)
    #expect(stage.statuses(of: "plain") == [.pending], "\(stage.entries.values.map(\.reason))")
    stage.decide(at: 10)
    #expect(stage.statuses(of: "plain") == [.accepted])
  }

  /// What an event armed for later is the newer one, and waits on.
  @Test(arguments: [(0, .pending), (1, .superseded)] as [(Int, LedgerEntry.Status)])
  func `after a takeover, one that never left is superseded, not uncertain`(
    kind: Int, status: LedgerEntry.Status
  ) {
    var stage = Stage()
    Self.kinds[kind](&stage.rules[1])
    stage.view.events = [RideEvent(id: 1, name: "driver_arrived", at: Sample.now)]
    stage.decide(at: 0)
    #expect(stage.statuses(of: "undecided") == [.pending])
    stage.view.events = [RideEvent(id: 2, name: "eta_changed", at: Sample.now)]
    stage.decide(at: 0.1, taken: true)
    #expect(stage.statuses(of: "undecided") == [status])
  }

  @Test(arguments: [0, 1])
  func `after a takeover, one that is kept back is not doubted`(kind: Int) {
    var stage = Stage()
    Self.kinds[kind](&stage.rules[1])
    stage.view.events = [Sample.event(1, "eta_changed")]
    stage.decide(at: 0, .refused(Refusal(status: 503, reason: "Shutdown")))
    stage.decide(at: 2, .refused(Refusal(status: 503, reason: "Shutdown")))
    stage.view.events = [RideEvent(id: 2, name: "driver_arrived", at: Sample.now)]
    stage.decide(at: 2.1)
    // The older push waits for its next attempt, and the newer one behind it.
    let decision = stage.decide(at: 2.2, taken: true)
    #expect(decision.kept.count + decision.deferred.count == 2)
    let doubts = stage.view.memo.waiting.filter { $0.entry.rule == "undecided" }.map(\.entry.doubt)
    #expect(doubts == [nil])
  }

  @Test func `after a takeover, one that was due is uncertain`() {
    var stage = Stage()
    Self.kinds[0](&stage.rules[1])
    stage.view.events = [RideEvent(id: 1, name: "driver_arrived", at: Sample.now)]
    stage.decide(at: 0)
    stage.view.events = [RideEvent(id: 2, name: "eta_changed", at: Sample.now + .seconds(121))]
    stage.decide(at: 121, taken: true)
    #expect(stage.statuses(of: "undecided") == [.uncertain])
  }
}
