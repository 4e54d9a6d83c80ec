import Base
import RideCore

/// The statements about permits: what `at-most` counts over all rides.
enum PermitStatements {
  /// $1 the requests of a batch, as `ridepulse.request_permits` takes them.
  private static let grant = Statement(
    name: "request_permits",
    sql: "select ride_id, refused::text from ridepulse.request_permits($1::jsonb)")
  /// $1 the outcomes of a batch, as `ridepulse.report_permits` takes them.
  private static let settle = Statement(
    name: "report_permits", sql: "select ridepulse.report_permits($1::jsonb)")

  /// Returns the calls that grant permits, in a transaction of their own.
  static func granting(_ rides: [ClaimedRequests]) -> [Call] {
    let requests = rides.flatMap { ride in ride.requests.map { json($0, of: ride.claim.rideID) } }
    return [
      Call(SettleStatements.writeSettings), Call(grant, [text(rides.map(\.claim), requests)]),
    ]
  }

  /// Returns what the last call of `granting` did not grant.
  static func result(_ rows: QueryResult) -> GrantResult {
    var result = GrantResult()
    for row in 0..<rows.rowCount {
      if let id = rows.string(row, 1) {
        if let id = PushID(id) { result.refused.insert(id) }
      } else if let ride = rows.string(row, 0) {
        result.lost.append(RideID(ride))
      }
    }
    return result
  }

  /// Returns the call that settles the permits of a batch; none if it has none, as almost all.
  ///
  /// It precedes the settlement in one transaction, because the settlement releases the rides.
  static func settling(_ batch: [ClaimedSettlement]) -> [Call] {
    let concerned = batch.filter { !$0.settlement.permits.isEmpty }
    if concerned.isEmpty { return [] }
    let outcomes = concerned.flatMap { claimed in
      claimed.settlement.permits.map { json($0, of: claimed.claim.rideID) }
    }
    return [Call(settle, [text(concerned.map(\.claim), outcomes)])]
  }

  private static func text(_ claims: [RideClaim], _ permits: [JSONValue]) -> String {
    let rides = claims.map { claim in
      JSONValue.object([
        "ride_id": .string(claim.rideID.text), "fence": .integer(claim.fence),
        "node": .string(claim.holder),
      ])
    }
    let all = JSONValue.object(["rides": .array(rides), "permits": .array(permits)])
    return String(decoding: all.json, as: UTF8.self)
  }

  private static func json(_ request: PermitRequest, of ride: RideID) -> JSONValue {
    json(
      request.permit, of: ride,
      [
        "count": .integer(Int64(request.cap.count)),
        "per": per(request.cap.period),
        "valid_until": .integer(request.validUntil.microseconds),
        "occurred_at": .integer(request.occurredAt.microseconds),
      ])
  }

  private static func per(_ period: PushCap.Period) -> JSONValue {
    switch period {
    case .time(let time): .integer(time.microseconds)
    case .ride: .null
    }
  }

  private static func json(_ outcome: PermitOutcome, of ride: RideID) -> JSONValue {
    json(
      outcome.permit, of: ride, ["sent": .bool(outcome.isSent), "done": .bool(outcome.isDone)])
  }

  private static func json(
    _ permit: Permit, of ride: RideID, _ further: [String: JSONValue]
  ) -> JSONValue {
    let members: [String: JSONValue] = [
      "ride_id": .string(ride.text), "id": .string(permit.id.description),
      "app": .string(permit.app.rawValue), "owner_id": .string(permit.owner.text),
      "kind": .string(permit.pushes.kind), "name": .string(permit.pushes.name),
      "window": .integer(permit.window.microseconds),
    ]
    return .object(members.merging(further) { own, _ in own })
  }
}

/// Reads the permits that still count.
struct PermitRead: Sendable {
  let id: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let kind: ResultColumn<String>
  let name: ResultColumn<String>
  let ride: ResultColumn<String>
  let countsAt: ResultColumn<Timestamp>
  /// $1 how long pushes count over all rides, in microseconds, or null; $2 the rides within which they
  /// count.
  let sent: Statement

  static let all = PermitRead()

  private init() {
    var list = SelectList()
    id = list.text("p.id::text")
    app = list.text("p.app")
    owner = list.text("p.owner_id")
    kind = list.text("p.kind")
    name = list.text("p.name")
    ride = list.text("p.ride_id")
    countsAt = list.time("p.counts_at")
    sent = Statement(
      name: "sent_permits",
      sql: """
        select \(list.sql) from ridepulse.permits p
        where $1::bigint is not null
          and p.counts_at > clock_timestamp() - $1::bigint * interval '1 microsecond'
        union
        select \(list.sql) from ridepulse.permits p where p.ride_id = any($2::text[])
        """)
  }

  /// Reads the pushes that the rules' `at-most` still count for these rides.
  ///
  /// What is counted within a ride is read of these rides only: it is kept for 90 days.
  func book(
    for rules: RuleSet, _ rides: [RideID], _ session: PostgresSession
  ) async throws -> PermitBook {
    var book = PermitBook()
    let (time, isPerRide) = (rules.longestCapTime, rules.capsRides)
    if time == nil, !isPerRide { return book }
    let parameters = [
      time.map { String($0.microseconds) },
      PostgresArray.literal(isPerRide ? rides.map(\.text) : []),
    ]
    let rows = try await session.run([Call(sent, parameters)], timeout: .seconds(60))[0]
    for row in 0..<rows.rowCount {
      guard let permit = permit(rows, row), let at = rows[row, countsAt] else { continue }
      book.add(permit, sentAt: at)
    }
    return book
  }

  private func permit(_ rows: QueryResult, _ row: Int) -> Permit? {
    guard let id = rows[row, id].flatMap({ PushID($0) }), let app = rows[row, app],
      let owner = rows[row, owner], let kind = rows[row, kind], let name = rows[row, name],
      let pushes = CountedPushes(kind: kind, name: name), let ride = rows[row, ride]
    else { return nil }
    // Only a new row needs the window: a row that is there knows how long it counts.
    return Permit(
      id: id, app: App(rawValue: app), owner: OwnerID(owner), pushes: pushes, ride: RideID(ride),
      window: .zero)
  }
}

/// The column with the topics that an owner has turned off, as a JSON list.
enum OptOutColumn {
  /// - Parameter row: the alias of a row with `app` and `owner_id`.
  static func sql(of row: String) -> String {
    """
    (select jsonb_agg(o.topic)::text from ridepulse.preferences o
       where o.app = \(row).app and o.owner_id = \(row).owner_id and not o.is_allowed)
    """
  }

  static let none = "null::text"
}
