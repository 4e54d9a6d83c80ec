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

  /// Returns a query of one row; a memo that is not as the engine writes it counts for nothing.
  ///
  /// - Parameter limit: The number of rides that are read: memos are large.
  static func query(rides limit: Int64) -> String {
    """
    (select count(*) filter (where not is_started and not is_over) as starting,
        count(*) filter (where is_started and not is_over) as shown,
        count(*) filter (where is_over) as over
      from (
        select coalesce(c.value -> 'android' -> 'isStarted' = 'true', false) as is_started,
          coalesce(c.value -> 'android' -> 'isOver' = 'true', false) as is_over
        from (select memo from ridepulse.agenda limit \(limit)) ride,
          jsonb_each(case when memo ? 'runs' and jsonb_typeof(memo -> 'cards') = 'object'
            then memo -> 'cards' end) c
        where jsonb_typeof(c.value -> 'android') = 'object') card)
    """
  }
}
