package import RideCore

/// The number of phones of an app in one APNs environment.
package struct PhoneCount: Hashable, Sendable {
  package var app: App
  /// The environment; nil for phones whose rows name none.
  package var environment: APNsEnvironment?
  /// Phones that receive pushes, or would without quarantine.
  package var live: Int64
  /// The number of these that are in quarantine.
  package var quarantined: Int64

  package init(app: App, environment: APNsEnvironment?, live: Int64, quarantined: Int64 = 0) {
    self.app = app
    self.environment = environment
    self.live = live
    self.quarantined = quarantined
  }
}

extension PhoneCount {
  private static let statement = Statement(
    name: "doctor_phones",
    sql: """
      select app, environment, count(*), count(quarantined_at)
      from ridepulse.devices where disabled_at is null group by 1, 2 order by 1, 2
      """)

  /// Counts all phones that are not disabled, ordered by app.
  package static func all(_ session: PostgresSession) async throws(PostgresError) -> [PhoneCount] {
    let rows = try await session.run([Call(statement)])[0]
    return (0..<rows.rowCount).map { row in
      PhoneCount(
        app: App(rawValue: rows.string(row, 0) ?? ""),
        environment: rows.string(row, 1).flatMap(APNsEnvironment.init(rawValue:)),
        live: rows.int64(row, 2) ?? 0, quarantined: rows.int64(row, 3) ?? 0)
    }
  }
}
