/// The number of phones in each state, as a node last counted them.
package struct PhoneCounts: Hashable, Sendable {
  /// Phones of one app and platform in one state.
  package struct Line: Hashable, Sendable {
    package var app: String
    package var platform: String
    package var state: String
    /// Why they are disabled; empty in other states.
    package var reason: String
    package var phones: Int64

    package init(app: String, platform: String, state: String, reason: String, phones: Int64) {
      (self.app, self.platform, self.state) = (app, platform, state)
      (self.reason, self.phones) = (reason, phones)
    }
  }

  /// Those with the most phones, at most `lineLimit`.
  package var lines: [Line]

  package static let lineLimit = 200
  /// How long a count may take.
  package static let limit: Duration = .seconds(10)

  /// Gives this node the turn to count, if it is time for all nodes: after a minute, and after a
  /// thousand times what the last count took. A count that does not end counts as `limit`.
  private static let turn = Statement(
    name: "phone_counts_turn",
    sql: """
      update ridepulse.phone_counts
      set counted_at = now(), took = \(longest)
      where counted_at < now() - greatest(interval '1 minute', 1000 * took)
      returning true
      """)

  /// Whether the last count ended, and whether it may still be under way.
  private static let last = Statement(
    name: "phone_counts_last",
    sql: """
      select took < \(longest), counted_at > clock_timestamp() - \(longest) from ridepulse.phone_counts
      """)

  /// A count that ended has taken less.
  private static let longest = "interval '\(limit.components.seconds) seconds'"

  private static let count = Statement(
    name: "phone_counts_count",
    sql: """
      update ridepulse.phone_counts p
      set counts = c.counts, counted_at = now(),
        took = least(clock_timestamp() - now(), \(longest) - interval '1 millisecond')
      from (
        select
          coalesce(jsonb_agg(jsonb_build_array(app, platform, state, reason, phones)), '[]')
            as counts
        from (
          select app, platform,
            case when disabled_at is not null then 'disabled'
              when quarantined_at is not null then 'quarantined' else 'active' end as state,
            case when disabled_at is null then '' else coalesce(disabled_reason, '') end as reason,
            count(*) as phones
          from ridepulse.devices group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4 limit \(lineLimit)
        ) l) c
      """)

  private static let lines = Statement(
    name: "phone_counts_lines",
    sql: """
      select l ->> 0, l ->> 1, l ->> 2, l ->> 3, (l -> 4)::bigint
      from ridepulse.phone_counts, jsonb_array_elements(counts) l
      """)

  /// What `refresh` did, or found.
  package enum Refresh: Hashable, Sendable {
    /// This node counted.
    case counted
    /// The last count is not old enough for another one.
    case notDue
    /// Another node may be counting now.
    case underway
    /// The last count failed, or did not end within `limit`, and it is not time for another one.
    case unfinished
  }

  /// Counts all phones if it is time.
  ///
  /// - Throws: `PostgresError`. `refusesRights` is true if the role lacks the right.
  @discardableResult
  package static func refresh(_ session: PostgresSession) async throws(PostgresError) -> Refresh {
    // A transaction of its own: the turn must be taken even if the count fails.
    if try await session.run([Call(turn)], timeout: .seconds(2))[0].rowCount > 0 {
      _ = try await session.run([Call(count)], timeout: limit)
      return .counted
    }
    let last = try await session.run([Call(last)], timeout: .seconds(2))[0]
    guard last.bool(0, 0) == false else { return .notDue }
    return last.bool(0, 1) == true ? .underway : .unfinished
  }

  /// Reads the last count; the time limit is two seconds.
  package static func read(_ session: PostgresSession) async throws -> PhoneCounts {
    let rows = try await session.run([Call(lines)], timeout: .seconds(2))[0]
    return PhoneCounts(
      lines: try (0..<rows.rowCount).map { row in
        Line(
          app: try rows.value(row, 0), platform: try rows.value(row, 1),
          state: try rows.value(row, 2), reason: try rows.value(row, 3),
          phones: try rows.value(row, 4))
      })
  }
}
