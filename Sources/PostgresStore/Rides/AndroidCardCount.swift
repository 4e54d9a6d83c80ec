/// Counts the cards of Android phones by their state, as the memos of rides have them.
package struct AndroidCardCount: Hashable, Sendable {
  /// Cards of which FCM has not accepted a push yet.
  package var starting: Int64
  /// Cards of which FCM accepted a push that shows them, and that have not ended.
  package var shown: Int64
  /// Cards that have ended, of rides that are still on the agenda.
  package var over: Int64

  package init(starting: Int64 = 0, shown: Int64 = 0, over: Int64 = 0) {
    self.starting = starting
    self.shown = shown
    self.over = over
  }

  /// A memo that is not as the engine writes it counts for nothing. The number of rides is limited,
  /// because memos are large.
  private static let cards = Statement(
    name: "android_cards",
    sql: """
      select count(*) filter (where not is_started and not is_over),
        count(*) filter (where is_started and not is_over), count(*) filter (where is_over)
      from (
        select coalesce(c.value -> 'android' -> 'isStarted' = 'true', false) as is_started,
          coalesce(c.value -> 'android' -> 'isOver' = 'true', false) as is_over
        from (select memo from ridepulse.agenda limit \(RideStates.rideLimit)) ride,
          jsonb_each(case when memo ? 'runs' and jsonb_typeof(memo -> 'cards') = 'object'
            then memo -> 'cards' end) c
        where jsonb_typeof(c.value -> 'android') = 'object') card
      """)

  /// Counts the cards of at most `RideStates.rideLimit` rides; the time limit is two seconds.
  package static func read(_ session: PostgresSession) async throws -> AndroidCardCount {
    let rows = try await session.run([Call(cards)], timeout: .seconds(2))[0]
    return AndroidCardCount(
      starting: try rows.value(0, 0), shown: try rows.value(0, 1), over: try rows.value(0, 2))
  }
}
