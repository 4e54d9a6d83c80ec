/// What the database holds and what the program carries, compared.
struct MigrationPlan: Hashable, Sendable {
  /// A step as the database remembers it.
  struct Landed: Hashable, Sendable {
    let name: String
    let checksum: String
  }

  /// The checksum of each step of the program, by name.
  let checksums: [String: String]
  let steps: [Migration]
  let pending: [Migration]

  /// - Throws: `edited` or `unknown` where the two cannot belong together.
  init(
    steps: [Migration], checksums: [String: String], landed: [Landed]
  ) throws(MigrationError) {
    let unknown = landed.filter { checksums[$0.name] == nil }
    if !unknown.isEmpty { throw .unknown(names: unknown.map(\.name)) }
    let edited = landed.filter { checksums[$0.name] != $0.checksum }
    if !edited.isEmpty { throw .edited(names: edited.map(\.name)) }
    let names = Set(landed.map(\.name))
    self.checksums = checksums
    self.steps = steps
    pending = steps.filter { !names.contains($0.name) }
  }

  /// Postgres 14 brought what the schema uses.
  static func check(serverVersion: Int) throws(MigrationError) {
    if serverVersion < 140_000 { throw .serverTooOld(version: serverVersion) }
  }

  /// Names and texts are Unicode. Another encoding refuses what it lacks, late and one ride at a
  /// time; SQL_ASCII takes any bytes, and APNs takes only UTF-8.
  static func check(encoding: String, database: String) throws(MigrationError) {
    if encoding != "UTF8" { throw .wrongEncoding(encoding, database: database) }
  }
}

/// One step as a text for the server: all of it is one transaction.
struct MigrationScript: Hashable, Sendable {
  /// Any number, the same on every node: "RidePuls" in ASCII.
  static let lock: Int64 = 0x5269_6465_5075_6C73

  let sql: String
  private let step: Migration
  private let characterCountBefore: Int

  /// The row comes first: where another node was quicker, the primary key refuses it after the
  /// lock, and nothing of the step is done twice.
  init(_ step: Migration, checksum: String) {
    let name = step.name.replacing("'", with: "''")
    let prologue = """
      select pg_advisory_xact_lock(\(Self.lock));
      insert into ridepulse.migrations (number, name, checksum)
      values (\(step.number), '\(name)', '\(checksum)');

      """
    self.step = step
    sql = prologue + step.sql + Self.epilogue
    characterCountBefore = prologue.unicodeScalars.count
  }

  /// Takes EXECUTE on new functions from PUBLIC. Default privileges can't: those of a schema only add
  /// to the global ones, and the global ones are not this program's to change.
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

  /// The line of the step's own file that a position in the script lies on.
  func line(ofPosition position: Int) -> Int? {
    let offset = position - 1 - characterCountBefore
    guard offset >= 0 else { return nil }
    return step.sql.unicodeScalars.prefix(offset).count { $0 == "\n" } + 1
  }

  /// The error that says that another node applied this step.
  static func saysAlreadyApplied(_ error: PostgresError) -> Bool {
    error.server?.sqlState == "23505" && error.server?.constraint == "migrations_pkey"
  }

  /// Makes the table that remembers the steps; only what is missing, since an administrator may
  /// have made the schema for a user who may not.
  static func bootstrap(schemaExists: Bool) -> String {
    """
    select pg_advisory_xact_lock(\(lock));
    \(schemaExists ? "" : "create schema if not exists ridepulse;")
    create table if not exists ridepulse.migrations (
      number integer constraint migrations_pkey primary key,
      name text not null unique,
      checksum text not null,
      applied_at timestamptz not null default now());
    """
  }
}
