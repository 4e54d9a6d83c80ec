/// How much JSON one read takes out of the database.
///
/// What counts is the text that reaches this process. Postgres knows only the stored size without
/// unpacking a value, and a compressed value may unpack to a hundred times that.
enum BoundedJSON {
  /// The longest JSON text that is read, in bytes: a push holds four thousand.
  static let limit = 1 << 20
  /// What one statement unpacks at most, estimated from stored sizes.
  static let statementLimit = 32 << 20
  /// The text that one statement returns at most.
  static let textLimit = 16 << 20
  /// The text that one claim reads at most, but for its last statement.
  static let claimLimit = 64 << 20

  /// How much a value may be once it is unpacked.
  static func weight(_ column: String) -> String {
    """
    case when pg_column_size(\(column)) > \(limit) then 0
      when pg_column_compression(\(column)) is null then pg_column_size(\(column))
      else pg_column_size(\(column))::bigint * 16 end
    """
  }

  /// A row `json (text, bytes)`: the value as text unless it is too large, and how large it is if it
  /// is; unpacked only where `condition` holds.
  static func lateral(_ column: String, if condition: String) -> String {
    """
    lateral (
      select case when octet_length(text) <= \(limit) then text end as text,
        case when octet_length(text) > \(limit) then octet_length(text)
          when pg_column_size(\(column)) > \(limit) then pg_column_size(\(column)) end as bytes
      from (select case when \(condition) and pg_column_size(\(column)) <= \(limit)
              then \(column)::text end as text offset 0) unpacked
      offset 0) json
    """
  }

  /// What a ride or an event with too large a value is parked with.
  static func reason(_ what: String, bytes: Int64) -> String {
    "\(what) too large: \(bytes) bytes, the limit is \(limit)"
  }
}
