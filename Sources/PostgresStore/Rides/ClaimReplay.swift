package import Base
internal import CLibpq
internal import Foundation
package import RideCore

/// A claim's rows in libpq's memory, read as a claim reads them, without a server.
///
/// `make cost` measures with it what the rows of a ride cost.
package final class ClaimReplay {
  private let reading: RideReading
  private let claims: QueryResult
  /// The rows of the other reads, by the name of their statement.
  private let rows: [String: QueryResult]
  private let log = Log { _, _, _ in }

  /// - Throws: `StoreFailure` if a row cannot be written.
  package init(
    _ views: [RideView], at now: Timestamp, apps: [App], rules: RuleSet
  ) throws {
    reading = RideReading(apps: apps, rules: rules)
    claims = try Self.claims(views, at: now)
    let rides = try Self.rides(views)
    var rows = [
      EventRead.small.statement.name: try Self.events(views),
      RideRead.small.statement.name: rides, RideRead.smallWithEntries.statement.name: rides,
      CardRead.all.statement.name: try Self.cards(views),
    ]
    let phones = try Self.phones(views)
    rows[PhoneRead.ofPeople.name] = phones
    rows[PhoneRead.ofPeopleWithContacts.name] = phones
    self.rows = rows
  }

  /// Reads the rows.
  package func claim() -> Claim {
    var reader = ClaimReader(log: log, holder: Self.holder)
    reader.readClaims(claims)
    var part = reader.part(of: reader.claims)
    take(reading.reads(part, .small), &part.rows)
    take(reading.readsOfPeople(part), &part.rows)
    reader.rows.add(part.rows)
    return reader.claim
  }

  private func take(_ reads: [RideReading.Read], _ taken: inout RideRows) {
    for read in reads {
      if let rows = rows[read.call.statement.name] { read.take(&taken, rows) }
    }
  }

  /// Returns the parameters of the statement that settles a batch.
  package static func parameters(_ batch: [ClaimedSettlement]) -> [String?] {
    SettleRows.parameters(node: holder, batch)
  }

  private static let holder = "6f1c1b7e-0000-4000-8000-000000000001"

  private static func claims(_ views: [RideView], at now: Timestamp) throws -> QueryResult {
    let columns = ClaimColumns.all
    var rows = ReplayRows()
    for (index, view) in views.enumerated() {
      rows.add()
      rows.set(columns.now, now)
      rows.set(columns.ride, view.rideID.text)
      rows.set(columns.fence, Int64(index + 1))
      rows.set(columns.memo, SettleRows.json(view.memo))
      rows.set(columns.isTakenOver, view.isTakenOver)
      rows.set(columns.systemIdentifier, 7_000_000_000_000_000_000)
      rows.set(columns.timeline, 1)
      rows.set(columns.mayClaim, true)
      rows.set(columns.isPinned, false)
    }
    return try rows.result()
  }

  private static func events(_ views: [RideView]) throws -> QueryResult {
    let columns = EventRead.all
    var rows = ReplayRows()
    for view in views {
      for event in view.events {
        rows.add()
        rows.set(columns.ride, view.rideID.text)
        rows.set(columns.id, event.id)
        rows.set(columns.name, event.name)
        rows.set(columns.createdAt, event.at)
        rows.set(columns.data, event.data)
        rows.set(columns.isBeyond, false)
        rows.set(columns.customer, event.people?.customer?.text)
        rows.set(columns.driver, event.people?.driver?.text)
      }
    }
    return try rows.result()
  }

  private static func rides(_ views: [RideView]) throws -> QueryResult {
    let columns = RideRead.all
    var rows = ReplayRows()
    for ride in views.compactMap(\.ride) {
      rows.add()
      rows.set(columns.id, ride.id.text)
      rows.set(columns.state, ride.state)
      rows.set(columns.customer, ride.customerID?.text)
      rows.set(columns.driver, ride.driverID?.text)
      rows.set(columns.pickupAt, ride.pickupAt)
      rows.set(columns.timeZone, ride.timeZone)
      rows.set(columns.attributes, ride.attributes)
      rows.set(columns.updatedAt, ride.updatedAt)
      rows.set(columns.isBeyond, false)
    }
    return try rows.result()
  }

  private static func phones(_ views: [RideView]) throws -> QueryResult {
    let columns = PhoneRead.withContacts
    var rows = ReplayRows()
    for view in views {
      for phone in view.phones {
        rows.add()
        rows.set(columns.ride, view.rideID.text)
        rows.set(columns.id, phone.id)
        rows.set(columns.app, phone.app.rawValue)
        rows.set(columns.owner, phone.ownerID.text)
        rows.set(columns.token, phone.token)
        rows.set(columns.reach, PhoneReach(phone).word)
        rows.set(columns.locale, phone.locale)
        rows.set(columns.timeZone, phone.timeZone)
        rows.set(columns.installation, phone.installationID?.text)
        rows.set(columns.contactedAt, phone.contactedAt)
      }
    }
    return try rows.result()
  }

  private static func cards(_ views: [RideView]) throws -> QueryResult {
    let columns = CardRead.all
    var rows = ReplayRows()
    for view in views {
      for card in view.cards {
        let (id, environment): (Int64, String?)
        switch card.target {
        case .activity(let activity): (id, environment) = (activity, card.environment?.rawValue)
        case .phone(let phone): (id, environment) = (phone, Platform.android.rawValue)
        case .channel: continue
        }
        rows.add()
        rows.set(columns.ride, view.rideID.text)
        rows.set(columns.id, id)
        rows.set(columns.app, card.app.rawValue)
        rows.set(columns.owner, card.ownerID.text)
        rows.set(columns.token, card.token)
        rows.set(columns.environment, environment)
        rows.set(columns.isFrequent, card.isFrequent)
        rows.set(columns.registeredAt, card.registeredAt)
        rows.set(columns.isGone, card.isGone)
        rows.set(columns.installation, card.installationID?.text)
      }
    }
    return try rows.result()
  }
}

/// Rows to make a result of, by the columns that readers use.
///
/// A column that is never set reads as NULL.
private struct ReplayRows {
  private var rows: [[Int: String]] = []
  private var width = 0

  mutating func add() { rows.append([:]) }

  mutating func set(_ column: ResultColumn<String>, _ value: String?) {
    set(column.index, value)
  }

  mutating func set(_ column: ResultColumn<Int64>, _ value: Int64?) {
    set(column.index, value.map { String($0) })
  }

  mutating func set(_ column: ResultColumn<Bool>, _ value: Bool) {
    set(column.index, value ? "t" : "f")
  }

  mutating func set(_ column: ResultColumn<Timestamp>, _ value: Timestamp?) {
    set(column.index, value.map { String($0.microseconds) })
  }

  private mutating func set(_ index: Int, _ value: String?) {
    width = max(width, index + 1)
    guard let value, let row = rows.indices.last else { return }
    rows[row][index] = value
  }

  /// Writes the rows with libpq's own functions, as if a server had sent them.
  func result() throws -> QueryResult {
    guard let handle = unsafe PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else {
      throw StoreFailure(.refused, "out of memory")
    }
    let result = unsafe QueryResult(owning: handle)
    var columns = unsafe [PGresAttDesc](repeating: PGresAttDesc(), count: width)
    guard unsafe PQsetResultAttrs(handle, Int32(width), &columns) != 0 else {
      throw StoreFailure(.refused, "libpq takes no columns")
    }
    for (row, values) in rows.enumerated() {
      for column in 0..<width {
        var bytes = values[column].map { $0.utf8.map { CChar(bitPattern: $0) } } ?? []
        let count = values[column] == nil ? -1 : Int32(bytes.count)
        guard unsafe PQsetvalue(handle, Int32(row), Int32(column), &bytes, count) != 0 else {
          throw StoreFailure(.refused, "libpq takes no value of \(count) bytes")
        }
      }
    }
    return result
  }
}
