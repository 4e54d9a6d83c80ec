package import RideCore

/// The apps that services are configured for: functions of the schema refuse all others.
package struct AppRegistry: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  private static let add = Statement(
    name: "",
    sql: """
      insert into ridepulse.apps as a (app)
      select app from unnest($1::text[]) app order by app
      on conflict (app) do update set seen_at = excluded.seen_at
      """)

  /// Records the apps of a service that starts.
  package func record(_ apps: [App]) async throws(PostgresError) {
    _ = try await session.run([Call(Self.add, [PostgresArray.literal(apps.map(\.rawValue))])])
  }
}
