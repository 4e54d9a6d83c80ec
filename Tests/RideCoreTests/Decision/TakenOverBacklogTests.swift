import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// A ride with more events than one claim reads, whose node ended.
///
/// An event may commit after one with a higher ID: the next holder then reads it in the place of one
/// that its predecessor may have sent.
@Suite struct TakenOverBacklogTests {
  private static let later = Sample.now + .seconds(86_400)

  private static func events(_ ids: ClosedRange<Int64>) -> [RideEvent] {
    ids.map { Sample.event($0) }
  }

  private static func phones(_ count: Int64) -> [Phone] {
    (1...count).map { Sample.phone($0, token: String(repeating: "\($0)", count: 8)) }
  }

  /// Decides and settles; the memo goes through its stored form.
  private func pass(
    _ view: inout RideView, at now: Timestamp = later, _ rules: [Rule] = [Sample.rule()]
  ) throws -> Decision {
    let decision = decide(view, by: Sample.book(rules), now: now)
    let outcomes = decision.pushes.map { _ in PushOutcome.accepted }
    view.apply(decision.settled(outcomes, now: now, jitter: { 0 }))
    view.memo = try Memo(storedText: view.memo.storedText)
    view.isTakenOver = false
    return decision
  }

  @Test func `what the lost node read may have been sent, even if the next claim leaves it out`()
    throws
  {
    // The lost node read events 3 and 4. Then 1 and 2 committed, and a claim reads two events.
    var view = Sample.view(events: Self.events(1...2))
    (view.isTakenOver, view.hasMoreEvents) = (true, true)
    #expect(try pass(&view).ended.map(\.status) == [.uncertain, .uncertain])
    (view.events, view.hasMoreEvents) = (Self.events(3...4), true)
    #expect(try pass(&view).ended.map(\.status) == [.uncertain, .uncertain])
    (view.events, view.hasMoreEvents) = (Self.events(5...6), false)
    #expect(try pass(&view).ended.map(\.status) == [.uncertain, .uncertain])
    #expect(!view.memo.isTakenOver)
    // Nothing was left, so this one is newer than the takeover.
    view.events = Self.events(7...7)
    #expect(try pass(&view).ended.map(\.status) == [.expired])
  }

  @Test func `a claim that reads all events of a taken-over ride leaves no doubt about later ones`()
    throws
  {
    var view = Sample.view(events: Self.events(1...2))
    view.isTakenOver = true
    #expect(try pass(&view).ended.map(\.status) == [.uncertain, .uncertain])
    view.events = Self.events(3...3)
    #expect(try pass(&view).ended.map(\.status) == [.expired])
  }

  @Test func `the doubt lasts through the parts of a pass, and of the next one`() throws {
    // 1,000 pushes to phones in a decision: the phones of 4 events are addressed in parts of 250.
    let phones = Self.phones(600)
    var view = Sample.view(events: Self.events(1...4), phones: phones)
    (view.isTakenOver, view.hasMoreEvents) = (true, true)
    var doubted: [Int] = []
    var statuses: Set<LedgerEntry.Status> = []
    for claim in 1...6 {
      if claim == 4 { (view.events, view.hasMoreEvents) = (Self.events(5...8), false) }
      let ended = try pass(&view).ended
      doubted.append(ended.count)
      statuses.formUnion(ended.map(\.status))
    }
    #expect(doubted == [1000, 1000, 400, 1000, 1000, 400])
    #expect(statuses == [.uncertain])
    #expect(!view.memo.isTakenOver && view.memo.part == nil)
  }

  @Test func `an event that commits during the parts of a pass is in doubt, too`() throws {
    var view = Sample.view(events: Self.events(2...2), phones: Self.phones(1500))
    (view.isTakenOver, view.hasMoreEvents) = (true, true)
    _ = try pass(&view)
    // The events that were left fit into the next read.
    (view.events, view.hasMoreEvents) = (Self.events(2...3), false)
    _ = try pass(&view)
    #expect(view.events.map(\.id) == [3])
    #expect(try pass(&view).ended.allSatisfy { $0.status == .uncertain })
  }

  @Test func `a holder that lost a later part had no other events`() throws {
    var view = Sample.view(events: Self.events(1...1), phones: Self.phones(1500))
    view.hasMoreEvents = true
    _ = try pass(&view)
    view.isTakenOver = true
    _ = try pass(&view)
    (view.events, view.hasMoreEvents) = (Self.events(2...2), false)
    #expect(try pass(&view).ended.allSatisfy { $0.status == .expired })
  }
}
