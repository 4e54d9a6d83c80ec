package import RideCore

/// Counts the Android phones of one app.
package struct AndroidPhoneCount: Hashable, Sendable {
  package var app: App
  /// Phones that receive pushes, or would without quarantine.
  package var live: Int64
  /// The number of these that are in quarantine.
  package var quarantined: Int64
  /// The number of these that have not registered again for 30 days.
  package var quiet: Int64
  /// Phones that were disabled in the last seven days because FCM no longer knew them.
  package var lost: Int64

  package init(
    app: App, live: Int64, quarantined: Int64 = 0, quiet: Int64 = 0, lost: Int64 = 0
  ) {
    self.app = app
    self.live = live
    self.quarantined = quarantined
    self.quiet = quiet
    self.lost = lost
  }
}

extension AndroidPhoneCount: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    app = try columns.next("app")
    live = try columns.next("count(*) filter (where disabled_at is null)")
    quarantined = try columns.next(
      "count(*) filter (where disabled_at is null and quarantined_at is not null)")
    quiet = try columns.next(
      "count(*) filter (where disabled_at is null and registered_at < now() - interval '30 days')")
    lost = try columns.next(
      """
      count(*) filter (where disabled_at > now() - interval '7 days'
        and disabled_reason = 'UNREGISTERED')
      """)
  }

  private static let statement = Statement(
    name: "doctor_android_phones",
    sql: """
      select \(selected) from ridepulse.devices where platform = 'android'
      group by app order by app
      """)

  /// Counts all of them, ordered by app.
  package static func all(
    _ session: PostgresSession
  ) async throws(PostgresError) -> [AndroidPhoneCount] {
    try all(try await session.run([Call(statement)])[0])
  }
}
