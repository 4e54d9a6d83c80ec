package import RideCore

/// How many enabled phones have one version of an app.
package struct AppVersionCount: Hashable, Sendable {
  package var app: App
  package var platform: Platform
  /// As the app reported it; nil if it did not.
  package var version: String?
  package var phones: Int64

  package init(_ app: App, _ platform: Platform, _ version: String?, phones: Int64) {
    (self.app, self.platform, self.version, self.phones) = (app, platform, version, phones)
  }
}

extension AppVersionCount: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    app = try columns.next("app")
    let word: String = try columns.next("platform")
    platform = Platform(rawValue: word) ?? .ios
    version = try columns.next("app_version")
    phones = try columns.next("count(*)")
  }

  private static let statement = Statement(
    name: "doctor_app_versions",
    sql: """
      select \(selected) from ridepulse.devices where disabled_at is null
      group by app, platform, app_version order by app, platform, app_version
      """)

  /// Counts all of them, ordered by app, platform and version.
  package static func all(
    _ session: PostgresSession
  ) async throws(PostgresError) -> [AppVersionCount] {
    try all(try await session.run([Call(statement)])[0])
  }
}
