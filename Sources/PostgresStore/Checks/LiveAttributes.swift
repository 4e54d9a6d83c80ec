package import Base
package import RideCore

/// The attributes of a live ride.
package struct LiveAttributes: Hashable, Sendable {
  package var rideID: RideID
  package var attributes: JSONValue

  package init(_ rideID: RideID, _ attributes: JSONValue) {
    (self.rideID, self.attributes) = (rideID, attributes)
  }
}

extension LiveAttributes {
  /// The most rides that are read: enough to find what the service writes wrongly.
  package static let limit = 1000

  private static let newest = Statement(
    name: "live_attributes",
    sql: """
      select r.id, r.attributes::text
      from ridepulse.agenda a join ridepulse.rides r on r.id = a.ride_id
      where pg_column_size(r.attributes) < 65536
      order by r.updated_at desc, r.id limit \(limit)
      """)

  /// Returns the attributes of the live rides that changed last, except very large ones.
  package static func all(_ session: PostgresSession) async throws(PostgresError)
    -> [LiveAttributes]
  {
    let rows = try await session.run([Call(newest)])[0]
    var rides: [LiveAttributes] = []
    for row in 0..<rows.rowCount {
      let (id, text): (String, String) = (try rows.value(row, 0), try rows.value(row, 1))
      guard let attributes = JSONValue(json: text.utf8) else { continue }
      rides.append(LiveAttributes(RideID(id), attributes))
    }
    return rides
  }
}
