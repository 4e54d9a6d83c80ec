import Testing
import PostgresStore

/// An app's transaction that stays open after its statements until the test ends it.
final class OpenTransaction {
  private let session: PostgresSession
  private let gate: PostgresSession
  private let work: Task<Void, any Error>
  private static let key = 7_320_114

  /// Returns once the statements are executed and the transaction is waiting.
  init(_ stage: Stage, _ sql: String) async throws {
    let conninfo = stage.conninfo
    let gate = try PostgresSession(conninfo: conninfo)
    let session = try PostgresSession(conninfo: conninfo, applicationName: "the app")
    self.gate = gate
    self.session = session
    _ = try await gate.run([
      Call(Statement(name: "", sql: "select pg_advisory_lock(\(Self.key))"))
    ])
    let script = "begin; \(sql); select pg_advisory_xact_lock(\(Self.key)); commit"
    work = Self.run(script, over: session)
    try await stage.until(
      """
      select count(*) from pg_stat_activity where application_name = 'the app'
        and datname = current_database() and wait_event = 'advisory'
      """, is: "1", within: .seconds(240))
  }

  private static func run(_ script: String, over session: PostgresSession) -> Task<Void, any Error>
  {
    Task { try await session.script(script, timeout: .seconds(600)) }
  }

  /// Commits the transaction.
  func commit() async throws {
    await gate.close()
    try await work.value
    await session.close()
  }
}
