package import Base
package import RideCore

/// Reads live rides without writing anything, so that a role with only SELECT suffices.
///
/// Rides come in pages, each from one snapshot of the database, so that a ride, its events and cards
/// match; the phones of its people are read immediately after it.
package struct RideSnapshot {
  private let session: PostgresSession
  private let reading: RideReading
  private let log: Log

  /// The number of rides in a page.
  package static let pageSize = 2000

  /// Uses an open session, which it does not close.
  ///
  /// - Parameters:
  ///   - apps: the apps whose phones rules may address.
  ///   - rules: the rules that decide which data is read.
  package init(session: PostgresSession, apps: [App], rules: RuleSet, log: Log) {
    self.session = session
    reading = RideReading(apps: apps, rules: rules)
    self.log = log
  }

  static let begin = Statement(
    name: "snapshot_begin", sql: "begin isolation level repeatable read, read only")

  static let commit = Statement(name: "snapshot_commit", sql: "commit")

  /// $1 last ride of the previous page, $2 active states, $3 limit.
  private static let page = Statement(
    name: "snapshot_page",
    sql: """
      select r.id from ridepulse.rides r
      where r.id > $1 and (r.state = any ($2::text[])
        or exists (select from ridepulse.agenda a where a.ride_id = r.id)
        or exists (select from ridepulse.events e where e.ride_id = r.id))
      order by r.id limit $3::int
      """)

  /// The rides $1 with their memos, in the columns of a claim.
  static let memos = Statement(
    name: "snapshot_memos",
    sql: """
      select \(ClaimColumns.all.sql)
      from (
        select clock_timestamp() as now, null::timestamptz as next_due, r.id as ride_id, 0 as fence,
          null::tid as place, a.memo, false as is_taken_over, null::timestamptz as held_until,
          null::bigint as lowest_event,
          null::bigint as claimed_to, null::timestamptz as lowest_due, null::bigint as system_identifier,
          null::integer as timeline, true as may_claim, true as is_pinned,
          false as has_lost_claims, null::bigint as pauses
        from unnest($1::text[]) r (id) left join ridepulse.agenda a on a.ride_id = r.id
      ) result
      """)

  private static let now = Statement(
    name: "snapshot_now", sql: "select \(SQLTime.now)")

  /// Returns the database's time.
  package func now() async throws -> Timestamp {
    try await session.run([Call(Self.now)])[0].value(0, 0)
  }

  /// Returns the pushes that the rules' `at-most` still count for these rides.
  package func permits(for rules: RuleSet, _ rides: [RideID]) async throws -> PermitBook {
    try await PermitRead.all.book(for: rules, rides, session)
  }

  /// Reads one ride; nil if it does not exist.
  package func ride(_ id: RideID) async throws -> RideView? {
    try await views([id.text]).first { $0.ride != nil }
  }

  /// Reads every live ride, page by page in the order of IDs.
  ///
  /// - Parameters:
  ///   - limit: no further page is read once this many rides are read.
  ///   - onPage: called with each page.
  package func rides(
    in activeStates: Set<String>, atLeast limit: Int = .max, onPage: ([RideView]) throws -> Void
  ) async throws {
    let states = PostgresArray.literal(activeStates.sorted())
    var last = ""
    var count = 0
    while count < limit {
      let rows = try await session.run(
        [Call(Self.page, [last, states, String(Self.pageSize)])], timeout: .seconds(60))[0]
      let ids = (0..<rows.rowCount).compactMap { rows.string($0, 0) }
      guard let end = ids.last else { return }
      try onPage(try await views(ids))
      last = end
      count += ids.count
    }
  }

  private func views(_ ids: [String]) async throws -> [RideView] {
    if ids.isEmpty { return [] }
    let rides = PostgresArray.literal(ids)
    // Only memos name pushes that wait. If a memo changes between the two reads, such a push is
    // shown a moment too late or too early, which has no other effect.
    var before = ClaimReader(log: log)
    before.readClaims(try await session.run([Call(Self.memos, [rides])])[0])
    let reads = reading.reads(before, .bounded)
    let results = try await session.run(
      [Call(Self.begin), Call(ClaimStatements.lookups), Call(Self.memos, [rides])]
        + reads.map(\.call) + [Call(Self.commit)])
    var reader = ClaimReader(log: log)
    reader.readClaims(results[2])
    reader.rows.take(reads, results.dropFirst(3))
    try await reading.readPeople(&reader, phoneLimit: nil) { try await session.run($0) }
    let oversized = reader.rows.oversized
    if oversized.isEmpty { return reader.claim.rides.map(\.view) }
    // Rides that did not fit are read on their own; if none fitted, they are read by halves.
    let rest = ids.filter { oversized.contains(RideID($0)) }
    let half = rest.count == ids.count ? rest.count / 2 : rest.count
    let read = reader.claim.rides.map(\.view).filter { !oversized.contains($0.rideID) }
    if rest.count == 1, ids.count == 1 { return reader.claim.rides.map(\.view) }
    return try await read + views(Array(rest[..<half])) + views(Array(rest[half...]))
  }
}
