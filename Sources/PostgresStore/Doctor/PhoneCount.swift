public import RideCore

/// How many phones there are of an app in one of Apple's worlds.
public struct PhoneCount: Hashable, Sendable {
  /// The app.
  public var app: App
  /// Nil where their rows name none.
  public var environment: APNsEnvironment?
  /// Those that pushes go to, or would without quarantine.
  public var live: Int64
  /// Those of them in quarantine.
  public var quarantined: Int64

  /// Phones of an app.
  public init(app: App, environment: APNsEnvironment?, live: Int64, quarantined: Int64 = 0) {
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

  /// Counts all phones that are not disabled, in the order of apps.
  public static func all(_ session: PostgresSession) async throws(PostgresError) -> [PhoneCount] {
    let rows = try await session.run([Call(statement)])[0]
    return (0..<rows.rowCount).map { row in
      PhoneCount(
        app: App(rawValue: rows.string(row, 0) ?? ""),
        environment: rows.string(row, 1).flatMap(APNsEnvironment.init(rawValue:)),
        live: rows.int64(row, 2) ?? 0, quarantined: rows.int64(row, 3) ?? 0)
    }
  }
}
