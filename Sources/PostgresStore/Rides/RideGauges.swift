package import Base
package import RideCore

/// Figures of the database for operators.
package struct RideGauges: Hashable, Sendable {
  /// Rides on the agenda, including parked ones.
  package var liveRides: Int64
  /// Rides that need attention now, at most `countLimit`.
  package var dueRides: Int64
  /// How long the oldest due ride has waited.
  package var oldestDue: Duration
  package var parkedRides: Int64
  package var quarantinedPhones: Int64
  /// Broadcast channels of each app and environment, as Apple last listed them.
  package var channels: [ChannelScope: Int64]
  /// The session, slot or prepared transaction that keeps PostgreSQL from removing dead rows.
  package var oldestTransaction: BlockingBackend?
  /// Outcomes not applied to their tokens yet, at most `TokenBacklog.countLimit`.
  package var waitingOutcomes: Int64 = 0
  /// How long the oldest of these outcomes has waited.
  package var oldestOutcome: Duration = .zero

  /// Due rides are not counted beyond this number.
  package static let countLimit = 10_000

  private static let gauges = Statement(
    name: "gauges",
    sql: """
      select (select count(*) from ridepulse.agenda),
        (select count(*) from (
          select from ridepulse.agenda where due_at <= now() and leased_until < 'infinity'
          limit \(countLimit)) due),
        (select count(*) from ridepulse.agenda where leased_until = 'infinity'),
        (select count(*) from ridepulse.devices where quarantined_at is not null),
        \(SQLTime.micros(interval: "clock_timestamp() - oldest.due_at"))
      from (select least(
        (select due_at from ridepulse.agenda where due_at <= now() and leased_until < 'infinity'
         order by due_at limit 1),
        (select created_at from ridepulse.events e where not exists (
           select from ridepulse.agenda a
           where a.ride_id = e.ride_id and a.leased_until = 'infinity')
         order by id limit 1)) as due_at) oldest
      """)

  private static let channels = Statement(
    name: "gauges_channels",
    sql: "select bundle_id, environment, channels from ridepulse.channel_listings")

  /// Reads the figures; the time limit is two seconds.
  package static func read(_ session: PostgresSession) async throws -> RideGauges {
    let results = try await session.run(
      [Call(gauges), Call(channels), Call(TokenBacklog.size)], timeout: .seconds(2))
    func number(_ column: Int) throws -> Int64 { try results[0].value(0, column) }
    var used: [ChannelScope: Int64] = [:]
    for row in 0..<results[1].rowCount {
      guard let bundleID = results[1].string(row, 0), let count = results[1].int64(row, 2),
        let environment = results[1].string(row, 1).flatMap(APNsEnvironment.init(rawValue:))
      else { continue }
      used[ChannelScope(bundleID: bundleID, environment: environment)] = count
    }
    var gauges = RideGauges(
      liveRides: try number(0), dueRides: try number(1),
      // NULL if none is due.
      oldestDue: max(.zero, Duration.read(results[0], 0, 4) ?? .zero),
      parkedRides: try number(2), quarantinedPhones: try number(3), channels: used,
      oldestTransaction: try await BlockingBackend.oldest(session))
    gauges.waitingOutcomes = try results[2].value(0, 0)
    gauges.oldestOutcome = max(.zero, Duration.read(results[2], 0, 1) ?? .zero)
    return gauges
  }
}

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
    let counts = try (0..<rows.rowCount).map { row in
      Count(state: try rows.value(row, 0), rides: try rows.value(row, 1))
    }
    return RideStates(counts: counts, rides: counts.isEmpty ? 0 : try rows.value(0, 2))
  }
}

extension PostgresRideStore {
  private static let due = Statement(
    name: "due_rides",
    sql: """
      select count(*) from (
        (select ride_id from ridepulse.agenda
         where due_at <= now() and leased_until < 'infinity' limit $1::bigint)
        union
        (select ride_id from ridepulse.events e where not exists (
           select from ridepulse.agenda a
           where a.ride_id = e.ride_id and a.leased_until = 'infinity') limit $1::bigint)) due
      """)

  private static let leftovers = Statement(
    name: "leftovers",
    sql: """
      select count(*) from ridepulse.agenda
      where leased_until = 'infinity' and parked_at >= \(SQLTime.timestamp("$1::bigint"))
      """)

  /// Returns how many rides have been parked since a time of the database's clock.
  package func parkedRides(since start: Timestamp) async throws -> Int {
    let results = try await settlements.run(
      [Call(Self.leftovers, [String(start.microseconds)])], timeout: .seconds(2))
    return Int(try results[0].value(0, 0) as Int64)
  }

  private static let clock = Statement(
    name: "database_time", sql: "select \(SQLTime.micros("clock_timestamp()"))")

  /// Returns the time by the database's clock.
  package func databaseTime() async throws -> Timestamp {
    let results = try await settlements.run([Call(Self.clock)], timeout: .seconds(2))
    return try results[0].value(0, 0)
  }

  /// Returns how many rides need attention now, including those that are being handled and without
  /// those that are parked.
  ///
  /// A backlog is counted only up to about `limit` rides.
  package func dueRides(atMost limit: Int) async throws -> Int {
    let results = try await settlements.run(
      [Call(Self.due, [String(limit)])], timeout: .seconds(2))
    return Int(try results[0].value(0, 0) as Int64)
  }
}
