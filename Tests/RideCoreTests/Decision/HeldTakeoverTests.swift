import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// A ride whose node ended, and a push that quiet hours or a pause hold at the next one.
@Suite struct HeldTakeoverTests {
  /// Decides ten seconds after the event by a node that took the ride over, and again when all is over.
  private func statuses(
    _ rule: Rule, _ pauses: [Pause] = [], isTakenOver: Bool = true
  ) -> [LedgerEntry.Status] {
    var book = Sample.book([rule])
    book.pauses = Pauses(pauses)
    var view = Sample.view()
    view.isTakenOver = isTakenOver
    let now = Sample.now + .seconds(9)
    let first = decide(view, by: book, now: now)
    #expect(first.pushes.isEmpty && first.deferred.count == 1)
    view.apply(first.settled([], now: now, jitter: { 0 }))
    view.isTakenOver = false
    book.pauses = Pauses()
    return decide(view, by: book, now: now + .seconds(8000)).ended.map(\.status)
  }

  /// The event is of 07:59:59.
  @Test(
    arguments: [("08:00", true, .uncertain), ("07:59", true, .expired), ("08:00", false, .expired)]
      as [(String, Bool, LedgerEntry.Status)])
  func `one that had left before quiet hours began is uncertain`(
    from: String, isTakenOver: Bool, status: LedgerEntry.Status
  ) throws {
    var rule = Sample.rule(expires: .after(.seconds(4000)))
    rule.limits.quiet = QuietHours(
      from: try #require(QuietHours.TimeOfDay(text: from)),
      to: try #require(QuietHours.TimeOfDay(text: "09:00")), zone: .ride, then: .hold)
    #expect(statuses(rule, isTakenOver: isTakenOver) == [status])
  }

  /// Seconds after the event at which the pause began.
  @Test(
    arguments: [(5, true, .uncertain), (0, true, .expired), (5, false, .expired)]
      as [(Int64, Bool, LedgerEntry.Status)])
  func `one that had left before a pause began is uncertain`(
    since: Int64, isTakenOver: Bool, status: LedgerEntry.Status
  ) {
    let pause = Pause(
      .rule, "arrived", until: Sample.now + .seconds(3600),
      since: Sample.now + .seconds(since - 1), author: "eve")
    let rule = Sample.rule(expires: .after(.seconds(4000)))
    #expect(statuses(rule, [pause], isTakenOver: isTakenOver) == [status])
  }
}
