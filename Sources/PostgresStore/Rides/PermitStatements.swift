import Base
import Foundation
import RideCore

/// The statements about permits: what `at-most` counts over all rides.
enum PermitStatements {
  /// $1 the changes of a batch, as `ridepulse.settle_permits` takes them.
  private static let settle = Statement(
    name: "settle_permits", sql: "select ridepulse.settle_permits($1::jsonb)")

  /// Returns the call that settles the permits of a batch; none if it has none, as almost all.
  ///
  /// It precedes the settlement in one transaction, because the settlement releases the rides.
  ///
  /// - Throws: `StoreFailure` if the changes can't be encoded.
  static func settling(_ batch: [ClaimedSettlement]) throws -> [Call] {
    let concerned = batch.filter { !$0.settlement.permits.isEmpty }
    if concerned.isEmpty { return [] }
    let changes = Changes(
      rides: concerned.map { RideRow($0.claim) },
      outcomes: concerned.flatMap { claimed in
        claimed.settlement.permits.outcomes.map { OutcomeRow($0, of: claimed.claim.rideID) }
      },
      requests: concerned.flatMap { claimed in
        claimed.settlement.permits.requests.map {
          RequestRow($0, of: claimed.settlement)
        }
      })
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    do {
      return [Call(settle, [String(decoding: try encoder.encode(changes), as: UTF8.self)])]
    } catch {
      throw StoreFailure(.values, "permits can't be encoded: \(error)")
    }
  }

  private struct Changes: Encodable {
    var rides: [RideRow]
    var outcomes: [OutcomeRow]
    var requests: [RequestRow]
  }

  private struct RideRow: Encodable {
    var rideId: String
    var fence: Int64
    var node: String

    init(_ claim: RideClaim) {
      rideId = claim.rideID.text
      fence = claim.fence
      node = claim.holder
    }
  }

  private struct OutcomeRow: Encodable {
    var rideId, id, app, ownerId, topic: String
    var sent, done: Bool
    var window: Int64

    init(_ outcome: PermitChanges.Outcome, of ride: RideID) {
      rideId = ride.text
      id = outcome.permit.id.description
      app = outcome.permit.app.rawValue
      ownerId = outcome.permit.owner.text
      topic = outcome.permit.topic.text
      sent = outcome.isSent
      done = outcome.isDone
      window = outcome.permit.window.microseconds
    }
  }

  private struct RequestRow: Encodable {
    var rideId, id, app, ownerId, topic: String
    var count: Int
    var per, validUntil, window, occurredAt: Int64

    init(_ request: PermitChanges.Request, of settlement: Settlement) {
      let permit = request.permit
      rideId = settlement.rideID.text
      id = permit.id.description
      app = permit.app.rawValue
      ownerId = permit.owner.text
      topic = permit.topic.text
      count = request.cap.count
      per = request.cap.period.microseconds
      validUntil = request.validUntil.microseconds
      window = permit.window.microseconds
      occurredAt = request.occurredAt.microseconds
    }
  }
}

/// Reads permits: those of waiting pushes, and those that still count.
struct PermitRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let topic: ResultColumn<String>
  let isGranted: ResultColumn<Bool>
  let countsAt: ResultColumn<Timestamp>
  /// For each permit of a waiting push $1 its ride and $2 its ID.
  let ofRides: Statement
  /// $1 how long pushes count, in microseconds; without rides.
  let sent: Statement

  static let all = PermitRead()

  private init() {
    var list = SelectList()
    ride = list.text("w.ride_id")
    id = list.text("p.id::text")
    app = list.text("p.app")
    owner = list.text("p.owner_id")
    topic = list.text("p.topic")
    isGranted = list.boolean("p.is_granted")
    countsAt = list.time("p.counts_at")
    ofRides = Statement(
      name: "claimed_permits",
      sql: """
        select \(list.sql)
        from unnest($1::text[], $2::uuid[]) w (ride_id, id) join ridepulse.permits p on p.id = w.id
        """)
    sent = Statement(
      name: "sent_permits",
      sql: """
        select \(list.sql)
        from ridepulse.permits p cross join (select null::text as ride_id) w
        where p.is_granted and p.counts_at > clock_timestamp() - $1::bigint * interval '1 microsecond'
        """)
  }

  /// Reads the pushes that the rules' `at-most` still count.
  func book(for rules: RuleSet, _ session: PostgresSession) async throws -> PermitBook {
    var book = PermitBook()
    guard let window = rules.longestPermitWindow else { return book }
    let rows = try await session.run(
      [Call(sent, [String(window.microseconds)])], timeout: .seconds(60))[0]
    for row in 0..<rows.rowCount {
      guard let permit = permit(rows, row), let at = rows[row, countsAt] else { continue }
      book.add(permit, sentAt: at)
    }
    return book
  }

  func permit(_ rows: QueryResult, _ row: Int) -> Permit? {
    guard let id = rows[row, id].flatMap({ PushID($0) }), let app = rows[row, app],
      let owner = rows[row, owner], let topic = rows[row, topic]
    else { return nil }
    // Only a new row needs the window: a row that is there knows how long it counts.
    return Permit(
      id: id, app: App(rawValue: app), owner: OwnerID(owner), topic: Topic(topic), window: .zero)
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
