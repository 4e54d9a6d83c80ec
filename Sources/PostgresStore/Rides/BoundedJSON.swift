/// Limits on the JSON that one read fetches from the database.
///
/// The limits apply to the text that reaches this process. Without decompressing a value,
/// PostgreSQL has only its stored size, and the text may be a hundred times larger.
enum BoundedJSON {
  /// The longest JSON text that is read, in bytes; a push holds four thousand.
  static let limit = 1 << 20
  /// The number of bytes that one statement decompresses at most, estimated from stored sizes.
  static let statementLimit = 32 << 20
  /// The number of bytes of text that one statement returns at most.
  static let textLimit = 16 << 20
  /// The number of bytes of text after which a claim starts no further read.
  static let claimLimit = 64 << 20

  /// An SQL estimate of a value's size in bytes once it is decompressed.
  static func weight(_ column: String) -> String {
    """
    case when pg_column_size(\(column)) > \(limit) then 0
      when pg_column_compression(\(column)) is null then pg_column_size(\(column))
      else pg_column_size(\(column))::bigint * 16 end
    """
  }

  /// A lateral row `json (text, bytes)`: the value as text unless it is too large, and its size if
  /// it is.
  ///
  /// The value is decompressed only if `condition` holds.
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

  /// The reason that a ride is parked with if its value, or that of an event, is too large.
  static func reason(_ what: String, bytes: Int64) -> String {
    "\(what) too large: \(bytes) bytes, the limit is \(limit)"
  }
}
