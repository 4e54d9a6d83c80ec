package import RideCore

/// What the phones of an app have ever reported, of what rules wait for.
package struct AppReports: Hashable, Sendable {
  package var app: App
  /// Whether an owner made contact.
  package var hasContact: Bool
  /// Whether an owner has a first receipt.
  package var hasReceipt: Bool

  package init(_ app: App, hasContact: Bool, hasReceipt: Bool) {
    (self.app, self.hasContact, self.hasReceipt) = (app, hasContact, hasReceipt)
  }
}

extension AppReports {
  private static let ofApps = Statement(
    name: "app_reports",
    sql: """
      select a.app, exists (select from ridepulse.contacts c where c.app = a.app),
        exists (
          select from ridepulse.receipts r where r.app = a.app and r.owner_id is not null)
      from unnest($1::text[]) a (app) order by 1
      """)

  /// Returns one value for each of the apps, in the order of their names.
  package static func all(
    of apps: Set<App>, _ session: PostgresSession
  ) async throws(PostgresError) -> [AppReports] {
    let names = PostgresArray.literal(apps.map(\.rawValue))
    let rows = try await session.run([Call(ofApps, [names])])[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      let app: String = try rows.value(row, 0)
      return AppReports(
        App(rawValue: app), hasContact: try rows.value(row, 1), hasReceipt: try rows.value(row, 2))
    }
  }
}
