/// The role that the nodes connect as; it owns nothing, so that its privileges can be revoked.
enum EngineRole {
  static let name = "chaos_engine"

  /// Creates the role with every privilege on the schema's tables, sequences and functions.
  static let script = """
    create role \(name) login;
    grant pg_monitor to \(name);
    \(grants)
    """

  /// Grants every privilege on the objects that there are.
  static let grants = """
    grant usage on schema ridepulse to \(name);
    grant select, insert, update, delete on all tables in schema ridepulse to \(name);
    grant usage, select, update on all sequences in schema ridepulse to \(name);
    grant execute on all routines in schema ridepulse to \(name);
    """

  /// Replaces the user of a connection string; libpq uses the last value of a repeated keyword.
  static func conninfo(_ conninfo: String) -> String { "\(conninfo) user=\(name)" }
}
