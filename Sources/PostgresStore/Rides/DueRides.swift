import RideCore

extension PostgresRideStore {
  private static let due = Statement(
    name: "due_rides",
    sql: """
      select count(*) from (
        (select ride_id from ridepulse.agenda where due_at <= now() limit $1::bigint)
        union
        (select ride_id from ridepulse.events limit $1::bigint)) due
      """)

  /// How many rides need attention now, those that are being handled among them; of a backlog no
  /// more than about so many are counted.
  package func dueRides(atMost limit: Int) async throws -> Int {
    let results = try await settlements.run(
      [Call(Self.due, [String(limit)])], timeout: .seconds(2))
    return Int(results[0].int64(0, 0) ?? 0)
  }
}
