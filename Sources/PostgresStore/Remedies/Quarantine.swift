package import Base
package import RideCore

/// The phones of an app whose tokens APNs or FCM refused again and again.
package struct QuarantinedPhones: Hashable, Sendable {
  package let app: App
  package let count: Int64
  /// When the first of them went into quarantine.
  package let since: Timestamp
  /// The most refusals in a row that one of them had.
  package let refusals: Int64
}

extension QuarantinedPhones: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    app = try columns.next("app")
    count = try columns.next("count(*)")
    since = try columns.next("min(quarantined_at)")
    refusals = try columns.next("max(refusals)::bigint")
  }
}

/// Counts the phones in quarantine, and lifts it.
package struct Quarantine: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// $1 the wanted apps, or NULL for all.
  private static let list = Statement(
    name: "",
    sql: """
      select \(QuarantinedPhones.selected) from ridepulse.quarantine
      where $1::text[] is null or app = any ($1::text[]) group by app order by app
      """)

  private static let lift = Statement(name: "", sql: "select ridepulse.unquarantine($1)")

  /// Returns the apps that have phones in quarantine, by name.
  ///
  /// - Parameter apps: the only apps to return; nil means all.
  package func list(_ apps: [App]? = nil) async throws(PostgresError) -> [QuarantinedPhones] {
    let wanted = apps.map { PostgresArray.literal($0.map(\.rawValue)) }
    let rows = try await session.run([Call(Self.list, [wanted])], timeout: .seconds(60))[0]
    return try QuarantinedPhones.all(rows)
  }

  /// Lifts the quarantine of an app's phones, and returns of how many.
  package func lift(_ app: App) async throws(PostgresError) -> Int64 {
    try await session.run([Call(Self.lift, [app.rawValue])], timeout: .seconds(60))[0].value(0, 0)
  }
}
