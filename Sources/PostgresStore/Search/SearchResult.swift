package import Base
package import RideCore

/// The newest rows of a search.
package struct Page<Item: Sendable>: Sendable {
  package var items: [Item]
  /// Whether older ones were left out.
  package var hasMore = false

  /// Takes rows, of which one more may have been read than a page has.
  init(_ rows: [Item]) {
    items = Array(rows.prefix(PushSearch.limit))
    hasMore = rows.count > PushSearch.limit
  }
}

/// What is recorded about a person, a token or a push.
package struct SearchResult: Sendable {
  /// The database's time of the search.
  package var now: Timestamp
  /// Enabled phones first, then disabled ones, newest first.
  package var phones = Page<FoundPhone>([])
  package var startTokens = Page<FoundStartToken>([])
  package var activities = Page<RideHistory.Activity>([])
  package var contacts: [RideHistory.Contact] = []
  /// The rides that name the person, the last changed first.
  package var rides = Page<FoundRide>([])
  /// The ledger rows, newest first.
  package var pushes: Page<LedgerRow>
  /// The revisions that they name.
  package var revisions: [Int32: RecordedRevision] = [:]

  package var isEmpty: Bool {
    phones.items.isEmpty && startTokens.items.isEmpty && activities.items.isEmpty
      && contacts.isEmpty && rides.items.isEmpty && pushes.items.isEmpty
  }
}

/// A row of `ridepulse.devices`.
package struct FoundPhone: Sendable {
  package var id: Int64
  package var app: String
  package var ownerID: OwnerID
  /// The token's last six digits.
  package var tokenSuffix: String
  package var environment, locale, disabledReason: String?
  package var registeredAt: Timestamp
  package var disabledAt, quarantinedAt: Timestamp?
}

/// A row of `ridepulse.push_to_start_tokens`.
package struct FoundStartToken: Sendable {
  package var app: String
  package var ownerID: OwnerID
  package var attributesType: String
  /// The token's last six digits.
  package var tokenSuffix: String
  package var registeredAt: Timestamp
  package var disabledAt: Timestamp?
  package var disabledReason: String?
}

/// A ride that names a person.
package struct FoundRide: Sendable {
  package var id: RideID
  package var state: String?
  /// The app whose owner the ride names.
  package var app: String
  package var updatedAt: Timestamp?
  /// Whether the ride is on the agenda.
  package var isLive: Bool
  /// When it next needs attention; nil if only its next event makes it due.
  package var due: Timestamp?
  /// Why it is parked; nil if it is not.
  package var parkedReason: String?
}

extension FoundPhone {
  private struct Columns: Sendable {
    let id: ResultColumn<Int64>
    let app, ownerID, tokenSuffix, environment, locale, disabledReason: ResultColumn<String>
    let registeredAt, disabledAt, quarantinedAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      id = list.integer("id")
      app = list.text("app")
      ownerID = list.text("owner_id")
      tokenSuffix = list.text("right(token, 6)")
      environment = list.text("environment")
      locale = list.text("locale")
      registeredAt = list.time("registered_at")
      disabledAt = list.time("disabled_at")
      disabledReason = list.text("disabled_reason")
      quarantinedAt = list.time("quarantined_at")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of `ridepulse.devices`.
  static let selected = columns.sql

  static func all(_ rows: QueryResult) -> [FoundPhone] {
    (0..<rows.rowCount).map { row in
      FoundPhone(
        id: rows[row, columns.id] ?? 0, app: rows[row, columns.app] ?? "",
        ownerID: OwnerID(rows[row, columns.ownerID] ?? ""),
        tokenSuffix: rows[row, columns.tokenSuffix] ?? "",
        environment: rows[row, columns.environment], locale: rows[row, columns.locale],
        disabledReason: rows[row, columns.disabledReason],
        registeredAt: rows[row, columns.registeredAt] ?? Timestamp(microseconds: 0),
        disabledAt: rows[row, columns.disabledAt], quarantinedAt: rows[row, columns.quarantinedAt])
    }
  }
}

extension FoundStartToken {
  private struct Columns: Sendable {
    let app, ownerID, attributesType, tokenSuffix, disabledReason: ResultColumn<String>
    let registeredAt, disabledAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      app = list.text("app")
      ownerID = list.text("owner_id")
      attributesType = list.text("attributes_type")
      tokenSuffix = list.text("right(token, 6)")
      registeredAt = list.time("registered_at")
      disabledAt = list.time("disabled_at")
      disabledReason = list.text("disabled_reason")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of `ridepulse.push_to_start_tokens`.
  static let selected = columns.sql

  static func all(_ rows: QueryResult) -> [FoundStartToken] {
    (0..<rows.rowCount).map { row in
      FoundStartToken(
        app: rows[row, columns.app] ?? "", ownerID: OwnerID(rows[row, columns.ownerID] ?? ""),
        attributesType: rows[row, columns.attributesType] ?? "",
        tokenSuffix: rows[row, columns.tokenSuffix] ?? "",
        registeredAt: rows[row, columns.registeredAt] ?? Timestamp(microseconds: 0),
        disabledAt: rows[row, columns.disabledAt],
        disabledReason: rows[row, columns.disabledReason])
    }
  }
}

extension FoundRide {
  private struct Columns: Sendable {
    let id, state, app, parkedReason: ResultColumn<String>
    let updatedAt, due: ResultColumn<Timestamp>
    let isLive: ResultColumn<Bool>
    let sql: String

    init() {
      var list = SelectList()
      id = list.text("r.id")
      state = list.text("r.state")
      app = list.text("r.app")
      updatedAt = list.time("r.updated_at")
      isLive = list.boolean("a.ride_id is not null")
      due = list.time("a.due_at")
      parkedReason = list.text("a.parked_reason")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// The columns that `all` reads, of rides `r` with the app that they name, and their agenda `a`.
  static let selected = columns.sql

  static func all(_ rows: QueryResult) -> [FoundRide] {
    (0..<rows.rowCount).map { row in
      FoundRide(
        id: RideID(rows[row, columns.id] ?? ""), state: rows[row, columns.state],
        app: rows[row, columns.app] ?? "", updatedAt: rows[row, columns.updatedAt],
        isLive: rows[row, columns.isLive] ?? false, due: rows[row, columns.due],
        parkedReason: rows[row, columns.parkedReason])
    }
  }
}
