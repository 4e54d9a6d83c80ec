/// The steps of the database compared with those of the program.
struct MigrationPlan: Hashable, Sendable {
  /// A step as recorded in the database.
  struct Landed: Hashable, Sendable {
    let name: String
    let checksum: String
  }

  /// The checksum of each of the program's steps, by name.
  let checksums: [String: String]
  let steps: [Migration]
  let pending: [Migration]
  /// The steps that a newer program applied. Steps only add, so this program works with them.
  let newer: [String]

  /// - Throws: `edited` or `unknown` if the database and the program do not match.
  init(
    steps: [Migration], checksums: [String: String], landed: [Landed]
  ) throws(MigrationError) {
    let edited = landed.filter { step in
      checksums[step.name].map { $0 != step.checksum } ?? false
    }
    if !edited.isEmpty { throw .edited(names: edited.map(\.name)) }
    let names = Set(landed.map(\.name))
    self.checksums = checksums
    self.steps = steps
    pending = steps.filter { !names.contains($0.name) }
    newer = landed.map(\.name).filter { checksums[$0] == nil }
    // A newer program has all steps of this one, and applies them in order.
    if !newer.isEmpty, !pending.isEmpty { throw .unknown(names: newer) }
  }

  /// Requires PostgreSQL 14, which introduced features that the schema uses.
  static func check(serverVersion: Int) throws(MigrationError) {
    if serverVersion < 140_000 { throw .serverTooOld(version: serverVersion) }
  }

  /// Requires UTF-8, because names and texts are Unicode.
  ///
  /// Another encoding rejects the characters that it lacks, late and one ride at a time. SQL_ASCII
  /// accepts any bytes, and APNs accepts only UTF-8.
  static func check(encoding: String, database: String) throws(MigrationError) {
    if encoding != "UTF8" { throw .wrongEncoding(encoding, database: database) }
  }
}

/// The SQL text of one step, which is executed as one transaction.
struct MigrationScript: Hashable, Sendable {
  /// The key of the advisory lock, arbitrary but the same on every node: "RidePuls" in ASCII.
  static let lock: Int64 = 0x5269_6465_5075_6C73

  let sql: String
  private let step: Migration
  private let prologue: String

  /// Inserts the step's row first: if another node was faster, the primary key rejects the row
  /// after the lock, and no part of the step is executed twice.
  init(_ step: Migration, checksum: String) {
    let name = step.name.replacing("'", with: "''")
    let prologue = """
      select pg_advisory_xact_lock(\(Self.lock));
      insert into ridepulse.migrations (number, name, checksum)
      values (\(step.number), '\(name)', '\(checksum)');

      """
    self.step = step
    sql = prologue + step.sql + Self.epilogue
    self.prologue = prologue
  }

  /// Revokes EXECUTE on new functions from PUBLIC.
  ///
  /// Default privileges cannot do this: those of a schema only add to the global ones, and this
  /// program must not change the global ones.
  private static let epilogue = """

    ;
    set local role none;
    do $$
    declare
      routine regprocedure;
    begin
      for routine in
        select p.oid from pg_proc p
        where p.pronamespace = to_regnamespace('ridepulse') and pg_has_role(p.proowner, 'usage')
          and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                      where a.grantee = 0)
      loop
        execute format('revoke execute on routine %s from public', routine);
      end loop;
    end
    $$;
    """

  /// Returns the line of the step's own file at a position in the script.
  func line(ofPosition position: Int, in schema: SchemaName) -> Int? {
    let offset = position - 1 - schema.applied(to: prologue).unicodeScalars.count
    guard offset >= 0 else { return nil }
    return schema.applied(to: step.sql).unicodeScalars.prefix(offset).count { $0 == "\n" } + 1
  }

  /// Whether the error means that another node has applied this step.
  static func isAlreadyApplied(_ error: PostgresError) -> Bool {
    error.server?.sqlState == "23505" && error.server?.constraint == "migrations_pkey"
  }

  /// Whether another session held a lock for too long, or both waited for each other.
  static func lacksLock(_ error: PostgresError) -> Bool {
    ["55P03", "40P01"].contains(error.server?.sqlState)
  }

  /// Returns SQL that creates the table of applied steps.
  ///
  /// It creates only what is missing, because an administrator may have created the schema for a
  /// user who may not.
  static func bootstrap(_ schema: SchemaName, exists schemaExists: Bool) -> String {
    """
    select pg_advisory_xact_lock(\(lock));
    \(schemaExists ? "" : "create schema if not exists \(schema);")
    create table if not exists ridepulse.migrations (
      number integer constraint migrations_pkey primary key,
      name text not null unique,
      checksum text not null,
      applied_at timestamptz not null default now());
    """
  }
}
