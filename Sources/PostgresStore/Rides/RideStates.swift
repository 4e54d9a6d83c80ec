/// How many rides of the agenda are in each state.
package struct RideStates: Hashable, Sendable {
  /// Rides in one state.
  package struct Count: Hashable, Sendable {
    /// The state, as the service's backend calls it; empty where a ride has none.
    package var state: String
    /// How many.
    package var rides: Int64

    /// Rides in one state.
    package init(state: String, rides: Int64) {
      self.state = state
      self.rides = rides
    }
  }

  /// The states with the most rides, at most `stateLimit`.
  package var counts: [Count]
  /// Rides that were looked at.
  package var rides: Int64
  /// There are more rides than were looked at.
  package var isCut: Bool { rides >= Self.rideLimit }

  /// No more rides are looked at.
  package static let rideLimit: Int64 = 20_000
  /// States are somebody else's text: there may be any number of them.
  package static let stateLimit = 40

  /// What was counted.
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

  /// Reads them; the database is given two seconds.
  package static func read(_ session: PostgresSession) async throws -> RideStates {
    let rows = try await session.run([Call(states)], timeout: .seconds(2))[0]
    let counts = (0..<rows.rowCount).map { row in
      Count(state: rows.string(row, 0) ?? "", rides: rows.int64(row, 1) ?? 0)
    }
    return RideStates(counts: counts, rides: counts.isEmpty ? 0 : rows.int64(0, 2) ?? 0)
  }
}
