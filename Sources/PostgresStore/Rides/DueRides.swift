import RideCore

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

  /// Returns how many rides need attention now, including those that are being handled and without
  /// those that are parked.
  ///
  /// A backlog is counted only up to about `limit` rides.
  package func dueRides(atMost limit: Int) async throws -> Int {
    let results = try await settlements.run(
      [Call(Self.due, [String(limit)])], timeout: .seconds(2))
    return Int(results[0].int64(0, 0) ?? 0)
  }
}
