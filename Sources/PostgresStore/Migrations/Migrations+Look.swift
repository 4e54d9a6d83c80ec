extension Migrations {
  private static let plan = Statement(
    name: "",
    sql: """
      select current_setting('server_version_num'), to_regnamespace('ridepulse') is not null,
        to_regclass('ridepulse.migrations') is not null,
        current_setting('server_encoding'), current_database()
      """)

  /// PostgreSQL computes the checksums, so that the program needs no hash function of its own.
  private static let checksum = Statement(
    name: "",
    sql: """
      select encode(sha256(convert_to(text, 'UTF8')), 'hex')
      from unnest($1::text[]) with ordinality as step(text, number) order by number
      """)

  private static let landed = Statement(
    name: "", sql: "select name, checksum from ridepulse.migrations order by number")

  /// Compares the database with the steps; creates the table of applied steps if `makesTable`.
  static func makePlan(
    _ session: PostgresSession, steps: [Migration], makesTable: Bool, timeout: Duration
  ) async throws(MigrationError) -> MigrationPlan {
    let facts = try await one(session, Call(plan), timeout: timeout)
    try MigrationPlan.check(serverVersion: Int(facts.int64(0, 0) ?? 0))
    try MigrationPlan.check(encoding: facts.string(0, 3) ?? "", database: facts.string(0, 4) ?? "")
    var hasTable = facts.bool(0, 2) ?? false
    if !hasTable, makesTable {
      let schemaExists = facts.bool(0, 1) ?? false
      do throws(PostgresError) {
        try await session.script(
          MigrationScript.bootstrap(schemaExists: schemaExists), timeout: timeout)
      } catch {
        throw .database(error)
      }
      hasTable = true
    }
    let texts = PostgresArray.literal(steps.map(\.sql))
    let sums = try await one(session, Call(checksum, [texts]), timeout: timeout)
    let pairs = steps.enumerated().map { ($1.name, sums.string($0, 0) ?? "") }
    return try MigrationPlan(
      steps: steps, checksums: Dictionary(pairs) { first, _ in first },
      landed: hasTable ? read(try await one(session, Call(landed), timeout: timeout)) : [])
  }

  private static func read(_ result: QueryResult) -> [MigrationPlan.Landed] {
    (0..<result.rowCount).map { row in
      MigrationPlan.Landed(
        name: result.string(row, 0) ?? "", checksum: result.string(row, 1) ?? "")
    }
  }

  private static func one(
    _ session: PostgresSession, _ call: Call, timeout: Duration
  ) async throws(MigrationError) -> QueryResult {
    do throws(PostgresError) {
      let results = try await session.run([call], timeout: timeout)
      guard let result = results.first else {
        throw PostgresError(.protocol(reason: "no result to a call"))
      }
      return result
    } catch {
      throw .database(error)
    }
  }
}
