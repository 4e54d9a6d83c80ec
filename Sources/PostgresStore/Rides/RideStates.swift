/// The number of rides on the agenda in each state.
package struct RideStates: Hashable, Sendable {
  /// The number of rides in one state.
  package struct Count: Hashable, Sendable {
    /// The state, as the service's backend names it; empty for a ride without one.
    package var state: String
    package var rides: Int64

    package init(state: String, rides: Int64) {
      self.state = state
      self.rides = rides
    }
  }

  /// The states with the most rides, at most `stateLimit`.
  package var counts: [Count]
  /// The number of rides that were counted.
  package var rides: Int64
  /// Whether there may be more rides than were counted.
  package var isCut: Bool { rides >= Self.rideLimit }

  /// The maximum number of rides that are counted.
  package static let rideLimit: Int64 = 20_000
  /// The maximum number of states: the backend defines them, and there may be any number.
  package static let stateLimit = 40

  package init(counts: [Count], rides: Int64) {
    self.counts = counts
    self.rides = rides
  }

  private static let states = Statement(
    name: "ride_states",
    sql: """
      select coalesce(state, ''), count(*), (sum(count(*)) over ())::bigint
      from (select r.state from ridepulse.agenda a join ridepulse.rides r on r.id = a.ride_id
            limit \(rideLimit)) live
      group by 1 order by 2 desc, 1 limit \(stateLimit)
      """)

  /// Reads the counts; the time limit is two seconds.
  package static func read(_ session: PostgresSession) async throws -> RideStates {
    let rows = try await session.run([Call(states)], timeout: .seconds(2))[0]
    let counts = (0..<rows.rowCount).map { row in
      Count(state: rows.string(row, 0) ?? "", rides: rows.int64(row, 1) ?? 0)
    }
    return RideStates(counts: counts, rides: counts.isEmpty ? 0 : rows.int64(0, 2) ?? 0)
  }
}
