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
  /// The app's installation; nil if the app did not name it.
  package var installationID: InstallationID?
  /// The token's last six digits.
  package var tokenSuffix: String
  package var environment, locale, platform, timeZone, appVersion, disabledReason: String?
  /// Whether the person allows alerts; nil if the app has not stated it.
  package var allowsAlerts: Bool?
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
  package var isAndroid: Bool { platform == Platform.android.rawValue }
}

extension FoundPhone: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    id = try columns.next("id")
    app = try columns.next("app")
    ownerID = try columns.next("owner_id")
    installationID = try columns.next("installation_id")
    tokenSuffix = try columns.next("right(token, 6)")
    environment = try columns.next("environment")
    locale = try columns.next("locale")
    platform = try columns.next("platform")
    timeZone = try columns.next("time_zone")
    allowsAlerts = try columns.next("alerts")
    appVersion = try columns.next("app_version")
    registeredAt = try columns.next("registered_at")
    disabledAt = try columns.next("disabled_at")
    disabledReason = try columns.next("disabled_reason")
    quarantinedAt = try columns.next("quarantined_at")
  }
}

extension FoundStartToken: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    app = try columns.next("app")
    ownerID = try columns.next("owner_id")
    attributesType = try columns.next("attributes_type")
    tokenSuffix = try columns.next("right(token, 6)")
    registeredAt = try columns.next("registered_at")
    disabledAt = try columns.next("disabled_at")
    disabledReason = try columns.next("disabled_reason")
  }
}

/// Read from rides `r` with the app that they name, and their agenda `a`.
extension FoundRide: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    id = try columns.next("r.id")
    state = try columns.next("r.state")
    app = try columns.next("r.app")
    updatedAt = try columns.next("r.updated_at")
    isLive = try columns.next("a.ride_id is not null")
    due = try columns.next("a.due_at")
    parkedReason = try columns.next("a.parked_reason")
  }
}
