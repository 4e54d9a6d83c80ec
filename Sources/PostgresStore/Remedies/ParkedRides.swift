package import Base
package import RideCore

/// A ride that no node claims until an operator unparks it.
package struct ParkedRide: Hashable, Sendable {
  package let id: RideID
  /// Why it was parked.
  package let reason: String
  /// When it was parked; nil if the program that parked it did not record that.
  package let parkedAt: Timestamp?
}

extension ParkedRide: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    id = try columns.next("ride_id")
    reason = try columns.next("parked_reason")
    parkedAt = try columns.next("parked_at")
  }
}

/// Lists parked rides, and makes them due again.
package struct ParkedRides: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The number of rides of a transaction.
  private static let batch = 500

  /// At most `batch` parked rides in the order of their IDs: $1 the ID before, $2 the wanted IDs or
  /// NULL for all.
  private static let batchOfParked = """
    select ride_id, parked_reason, parked_at from ridepulse.agenda
    where parked_reason is not null and ride_id > $1
      and ($2::text[] is null or ride_id = any ($2::text[]))
    order by ride_id limit \(batch)
    """

  private static let list = Statement(
    name: "", sql: "select \(ParkedRide.selected) from (\(batchOfParked)) p")

  private static let unpark = Statement(
    name: "",
    sql: """
      with parked as materialized (\(batchOfParked))
      select \(ParkedRide.selected) from parked where ridepulse.unpark(ride_id) order by ride_id
      """)

  /// Returns the parked rides, by ID.
  ///
  /// - Parameter ids: the only rides to return; nil means all.
  package func list(_ ids: [RideID]? = nil) async throws(PostgresError) -> [ParkedRide] {
    try await all(Self.list, ids)
  }

  /// Makes parked rides due again, and returns those that were parked, by ID.
  ///
  /// - Throws: `PostgresError`; some of the rides may be due again then, and the call may be repeated.
  package func unpark(_ ids: [RideID]? = nil) async throws(PostgresError) -> [ParkedRide] {
    try await all(Self.unpark, ids)
  }

  private func all(
    _ statement: Statement, _ ids: [RideID]?
  ) async throws(PostgresError) -> [ParkedRide] {
    let wanted = ids.map { PostgresArray.literal($0) }
    var found: [ParkedRide] = []
    while true {
      let rows = try await session.run(
        [Call(statement, [found.last?.id.text ?? "", wanted])], timeout: .seconds(60))[0]
      let batch = try ParkedRide.all(rows)
      if batch.isEmpty { return found }
      found += batch
    }
  }
}
