/// The server's variables that statements and results of this program depend on.
///
/// A role or a database may set others. Those that change what is read of attached tables, such as
/// `TimeZone` and `bytea_output`, stay as they are: a backfill must copy what the triggers copy.
enum SessionVariables {
  private static let values: KeyValuePairs = [
    // A null in an array parameter is not the text NULL.
    "array_nulls": "on",
    // A backslash in a text is no escape.
    "standard_conforming_strings": "on",
    // The style alone; the order of day and month in what is read stays.
    "DateStyle": "ISO",
    "quote_all_identifiers": "off",
    // Claims and settlements see what others committed before each statement.
    "default_transaction_isolation": "read committed",
  ]

  /// Sets them until the end of the session.
  static let statement = Statement(
    name: "",
    sql: "select "
      + values.map { "set_config(\(SQLText.literal($0)), \(SQLText.literal($1)), false)" }
      .joined(separator: ", "))
}
