import Foundation
import TestSupport
import Testing

@testable import PostgresStore

/// Tries each role with each function, table and view, and compares the outcome with Golden/rights.md.
@Suite("Privileges", .timeLimit(.minutes(60))) struct PrivilegeTests {
  private let session: PostgresSession
  /// A role with USAGE on the schema, and otherwise the rights of PUBLIC.
  private let stranger = "stranger_\(UInt32.random(in: 0 ... .max))"

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    try await RoleSetup.apply(session)
    try await session.script(
      "create role \(stranger); grant usage on schema ridepulse to \(stranger); \(Self.tried)")
  }

  /// Runs a command as a role, undoes it, and returns whether Postgres allowed it.
  ///
  /// A function that was entered and failed was allowed, and so was a write that failed for another
  /// reason than a right. A view that nobody can write to is not.
  private static let tried = """
    create function pg_temp.is_allowed(role text, object text, command text) returns boolean
    language plpgsql as $$
    declare
      message text;
    begin
      begin
        execute format('set local role %I', role);
        execute command;
        raise exception 'undone' using errcode = 'RP000';
      exception when others then
        get stacked diagnostics message = message_text;
        if sqlstate = '42501' then
          return message !~ ('^permission denied for \\w+ (ridepulse|' || object || ')$');
        end if;
        return sqlstate not in ('55000', '0A000') or command like 'select%';
      end;
    end $$
    """

  /// Each object, privilege, and the command that needs it.
  private static let attempts = """
    select p.proname || '()', 'execute', format('select ridepulse.%I(%s)', p.proname, (
        select string_agg('null::' || t::regtype, ', ') from unnest(p.proargtypes) t)), p.proname
    from pg_proc p where p.pronamespace = 'ridepulse'::regnamespace
    union all
    select c.relname, a.privilege, format(a.command, c.relname, (
        select attname from pg_attribute
        where attrelid = c.oid and not attisdropped order by attnum desc limit 1)), c.relname
    from pg_class c, (values
      ('select', 'select from ridepulse.%I limit 0'),
      ('insert', 'insert into ridepulse.%I default values'),
      ('update', 'update ridepulse.%I set %I = default where false'),
      ('delete', 'delete from ridepulse.%I where false')) a (privilege, command)
    where c.relnamespace = 'ridepulse'::regnamespace and c.relkind in ('r', 'p', 'v')
      and c.relname !~ '^(ledger|recorded)_(\\d|default)'
    union all
    select 'sequence fence', 'usage', 'select nextval(''ridepulse.fence'')', 'fence'
    """

  private struct Row {
    var object: String
    /// The privileges that each role has.
    var cells: [[String]]
  }

  private var roles: [String] { Role.allCases.map(\.rawValue) + [stranger] }

  private func rows() async throws -> [Row] {
    let columns = roles.map { "pg_temp.is_allowed('\($0)', a.name, a.command)" }
    let result = try await session.run(
      [
        direct(
          """
          select a.object, a.privilege, \(columns.joined(separator: ", "))
          from (\(Self.attempts)) a (object, privilege, command, name)
          order by a.object like '%()', a.object collate "C", a.privilege
          """)
      ])[0]
    var rows: [Row] = []
    for index in 0..<result.rowCount {
      let object = result.string(index, 0) ?? ""
      if rows.last?.object != object {
        rows.append(Row(object: object, cells: roles.map { _ in [] }))
      }
      for column in roles.indices where result.bool(index, column + 2) == true {
        rows[rows.count - 1].cells[column].append(result.string(index, 1) ?? "")
      }
    }
    return rows
  }

  /// Formats rows as the table of the docs, followed by the objects that no role may use.
  private static func table(_ rows: [Row]) -> String {
    var lines = [
      "| object | `ridepulse_app` | `ridepulse_engine` | `ridepulse_reader` | PUBLIC |",
      "|---|---|---|---|---|",
    ]
    for row in rows where row.cells.contains(where: { !$0.isEmpty }) {
      let cells = row.cells.map { $0.isEmpty ? "–" : $0.joined(separator: ", ") }
      lines.append("| `\(row.object)` | \(cells.joined(separator: " | ")) |")
    }
    let closed = rows.filter { $0.cells.allSatisfy(\.isEmpty) }.map { "`\($0.object)`" }
    return lines.joined(separator: "\n") + "\n\nFor the owner alone: "
      + closed.joined(separator: ", ") + ".\n"
  }

  private static let golden = Project.path("Tests/PostgresStoreTests/Golden/rights.md")

  @Test func `R80: each role can do what is listed, and nothing else`() async throws {
    let table = "# The rights of the three roles\n\n" + Self.table(try await rows())
    #expect(try Golden.difference(of: table, from: Self.golden) == nil)
    try await leave()
  }

  @Test func `R80: only listed objects are granted, and listed objects exist`() async throws {
    let expected = Set(
      Grants.all.filter { $0.kind != .schema }.flatMap { grant in
        Role.allCases.flatMap { role in
          grant.privileges(of: role).map { "\(role.rawValue) \($0.rawValue) \(grant.name)" }
        }
      })
    let result = try await session.run([
      direct(
        """
        select grantee::regrole || ' ' || lower(privilege_type) || ' ' || name from (
          select relname as name, relacl as acl from pg_class
          where relnamespace = 'ridepulse'::regnamespace
          union all
          select proname, proacl from pg_proc where pronamespace = 'ridepulse'::regnamespace) o,
          aclexplode(o.acl) where grantee::regrole::text = any ($1::text[])
        """, [PostgresArray.literal(Role.allCases.map(\.rawValue))])
    ])[0]
    let actual = Set((0..<result.rowCount).compactMap { result.string($0, 0) })
    #expect(actual == expected, "\(actual.symmetricDifference(expected))")
    try await leave()
  }

  @Test func `R80: the roles are made again without a change, and lose what they should not have`()
    async throws
  {
    let before = try await rows()
    try await session.script(
      "grant select on ridepulse.devices to ridepulse_app; "
        + "grant execute on function ridepulse.register_device to ridepulse_reader")
    try await RoleSetup.apply(session)
    let after = try await rows()
    #expect(Self.table(after) == Self.table(before))
    try await leave()
  }

  private func leave() async throws {
    try await session.script("drop owned by \(stranger); drop role \(stranger)")
    await session.close()
  }
}
