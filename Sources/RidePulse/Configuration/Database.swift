import Base
import Foundation
import PostgresStore
import RideCore

/// Opens the Postgres sessions of the commands.
enum Database {
  /// Returns the connection string; empty if libpq's own `PG*` variables are used instead.
  ///
  /// - Throws: `CommandFailure` if `DATABASE_URL_FILE` can't be used, or if the environment names
  ///   several databases.
  static func conninfo(_ environment: [String: String]) throws(CommandFailure) -> String {
    if let file = try CellFile(environment) {
      throw CommandFailure(
        "\(CellFile.variable) lists cells: choose one with --cell NAME; the cells are \(file.names)",
        status: .usage)
    }
    return try SecretVariable(
      "DATABASE_URL", in: environment, prefixes: ["postgres:", "postgresql:", "host="])?.text ?? ""
  }

  /// The name of the schema in use, for texts that name tables and functions.
  static var schema: String { schemaInUse.name }

  private static var schemaInUse: SchemaName {
    Cell.current?.schema ?? (try? SchemaName.ofProcess()) ?? .standard
  }

  /// Returns a constant text that names tables and functions, for the schema in use.
  ///
  /// A text that contains a value must not pass through here: the value would be changed, too.
  static func named(_ text: String) -> String { schemaInUse.applied(to: text) }

  /// Opens a session and runs one query on it, so that an unreachable database fails at the start.
  static func session(
    _ conninfo: String, name: String,
    onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }
  ) async throws -> PostgresSession {
    let session: PostgresSession
    do {
      session = try PostgresSession(
        conninfo: conninfo, schema: Cell.current?.schema, applicationName: "ridepulse \(name)",
        onEvent: onEvent)
      _ = try await session.run([Call(Statement(name: "", sql: "select 1"))])
    } catch {
      if case .invalidSchema = error.kind { throw CommandFailure("\(error)") }
      throw CommandFailure(
        "the database can't be reached: \(error); see DATABASE_URL or the PG* variables")
    }
    return session
  }

  /// Runs `body` with a session of its own, which is closed in any case.
  static func with<Value: Sendable>(
    _ environment: [String: String], name: String,
    _ body: (PostgresSession) async throws -> Value
  ) async throws -> Value {
    try await with(conninfo: conninfo(environment), name: name, body)
  }

  /// Runs `body` with a session for a given connection string, which is closed in any case.
  static func with<Value: Sendable>(
    conninfo: String, name: String,
    onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in },
    _ body: (PostgresSession) async throws -> Value
  ) async throws -> Value {
    let session = try await session(conninfo, name: name, onEvent: onEvent)
    return try await withCleanup({ await session.close() }) { try await body(session) }
  }

  /// Throws if this program's apps must not send from the database.
  static func requirePin(_ pin: DatabasePin, _ session: PostgresSession) async throws {
    let problems = try await pin.problems(session)
    if problems.isEmpty { return }
    let lines = problems.map(\.description) + [named(PinProblem.remedy(for: problems))]
    throw CommandFailure(lines.joined(separator: "; "))
  }

  /// Throws `MissingMigrations` if the database's schema lacks migrations of this binary.
  static func requireSchema(_ session: PostgresSession) async throws {
    let schema = try await Migrations.state(session)
    if !schema.missing.isEmpty { throw MissingMigrations(names: schema.missing) }
  }

  /// Throws if passes can't be recorded: each settlement of a sampled ride would fail.
  static func requireRights(
    toRecord sample: RecordSample, _ session: PostgresSession
  ) async throws {
    if try await RecordedPasses.isAllowed(session) { return }
    throw CommandFailure(
      "RIDEPULSE_RECORD is \(sample.text), and this role may not write \(schema).recorded; run "
        + "ridepulse migrate --roles, or unset RIDEPULSE_RECORD")
  }
}

/// Migrations of this binary that the database's schema lacks.
struct MissingMigrations: Error, CustomStringConvertible {
  let names: [String]

  var description: String {
    "the database lacks \(names.joined(separator: ", ")); run: ridepulse migrate"
  }
}
