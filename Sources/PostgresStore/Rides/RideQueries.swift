package import Base
package import RideCore

/// The queries and events about one ride that a person requests outside the service.
package struct RideQueries: Sendable {
  let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The maximum length of an ID in bytes; `ridepulse.check_text` refuses longer ones.
  package static let idLimit = 512

  private static let emit = Statement(
    name: "api_emit", sql: "select ridepulse.emit($1, $2, $3::jsonb)")

  private static let emitToPeople = Statement(
    name: "api_emit_to_people",
    sql: "select event_id, ride_id from ridepulse.emit_to_people($1, $2::jsonb)")

  private static let waiting = Statement(
    name: "api_waiting", sql: "select from ridepulse.events where id = $1::bigint")

  /// Emits an event of a ride; returns the event's ID.
  ///
  /// - Parameter data: a JSON object.
  package func emit(_ event: String, ride: RideID, data: String) async throws -> Int64 {
    let results = try await session.run([Call(Self.emit, [event, ride.text, data])])
    return try results[0].value(0, 0)
  }

  /// Emits an event about no ride; returns the event and the pseudo ride of each person whom the data
  /// names.
  package func emit(
    _ event: String, data: String
  ) async throws -> [(event: Int64, ride: RideID)] {
    let rows = try await session.run([Call(Self.emitToPeople, [event, data])])[0]
    return (0..<rows.rowCount).compactMap { row in
      guard let id = rows.int64(row, 0), let ride = rows.string(row, 1) else { return nil }
      return (id, RideID(ride))
    }
  }

  /// Returns what a decision would read if the event came now, including the ride's memo; writes
  /// nothing.
  package func view(_ event: String, ride: RideID, data: String, apps: [App]) async throws
    -> (view: RideView, now: Timestamp)
  {
    let rides = PostgresArray.literal([ride])
    let read = try await session.run([
      Call(RideRead.withEntries.statement, [rides]), Call(RideSnapshot.memos, [rides]),
      Call(CardRead.withOptOuts.statement, [rides]), Call(ChannelRead.all.statement, [rides]),
      Call(ParticipantRead.all.statement, [rides]),
    ])
    var reader = ClaimReader(log: Log { _, _, _ in })
    reader.readClaims(read[1])
    reader.rows.readRides(read[0])
    reader.rows.readCards(read[2])
    reader.rows.readChannels(read[3])
    reader.rows.readParticipants(read[4])
    let (now, rows) = (reader.claim.now, reader.rows)
    let event = RideEvent(id: 0, name: event, at: now, data: data)
    // A ride that does not exist may be a person's pseudo ride, whose owner the data names.
    let people = rows.view(of: ride).owners(of: apps, on: event)
      .map { RidePerson(ride: ride, person: $0) }
    let parameters = RidePerson.rows.arrays(people) + TokenInMemo.rows.arrays([])
    let found = try await session.run([
      Call(PhoneRead.ofPeopleWithBoth, parameters + [nil]),
      Call(StartTokenRead.withOptOuts.ofPeople, parameters),
    ])
    reader.rows.readPhones(found[0])
    reader.rows.readStartTokens(found[1])
    guard var view = reader.claim.rides.first?.view else { return (rows.view(of: ride), now) }
    view.events = [event]
    return (view, now)
  }

  /// Returns the pushes that the rules' `at-most` still count for these rides.
  package func permits(for rules: RuleSet, _ rides: [RideID]) async throws -> PermitBook {
    try await PermitRead.all.book(for: rules, rides, session)
  }

  /// Returns the outcomes of an event so far, and whether they are complete.
  package func deliveries(
    of event: Int64, ride: RideID
  ) async throws -> (deliveries: [LedgerRow], isComplete: Bool) {
    // The event is read before the ledger: if it is consumed, its rows are there.
    let results = try await session.run([
      Call(Self.waiting, [String(event)]), Call(LedgerRow.ofEvent, [ride.text, String(event)]),
    ])
    let deliveries = try LedgerRow.all(results[1])
    let isComplete =
      results[0].rowCount == 0
      && !deliveries.contains { $0.status == LedgerEntry.Status.pending.rawValue }
    return (deliveries, isComplete)
  }
}
