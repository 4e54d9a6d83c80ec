internal import RideCore

/// SQL expressions that convert between PostgreSQL's times and microseconds since 1970.
enum SQLTime {
  /// A timestamp as microseconds; NULL stays NULL.
  ///
  /// PostgreSQL stores times that microseconds since 1970 cannot express, such as infinity: they
  /// become the nearest of the years 1 and 9999. NULL needs the `case`, because `greatest` ignores
  /// it and would return a time.
  static func micros(_ timestamp: String) -> String {
    converted(
      """
      case when \(timestamp) is not null
          then least(greatest(\(timestamp), '0001-01-01Z'), '9999-01-01Z') end
      """)
  }

  /// An interval as microseconds.
  static func micros(interval: String) -> String { converted(interval) }

  /// The database's time as microseconds.
  static let now = converted("clock_timestamp()")

  private static func converted(_ expression: String) -> String {
    "(extract(epoch from \(expression)) * 1000000)::bigint"
  }

  /// A number of microseconds as a timestamp.
  static func timestamp(_ micros: String) -> String {
    "timestamptz 'epoch' + \(micros) * interval '1 microsecond'"
  }
}
