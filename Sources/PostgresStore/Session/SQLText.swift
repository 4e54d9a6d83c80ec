internal import RideCore

/// Writes values and names into SQL text that a person pastes, or that takes no parameters.
///
/// It works on Unicode scalars: `'` before a combining mark is one `Character` with it, and still
/// ends a literal.
package enum SQLText {
  /// Returns a string literal such as `'O''Brien'`.
  ///
  /// With a backslash or an unprintable scalar it is an escape string, `E'\u001b'`, which does not
  /// depend on `standard_conforming_strings`.
  package static func literal(_ text: String) -> String {
    var needsEscapes = false
    var body = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'": body += "''"
      case "\\":
        body += "\\\\"
        needsEscapes = true
      case _ where scalar.isUnprintable:
        let digits = String(scalar.value, radix: 16)
        let width = scalar.value > 0xffff ? 8 : 4
        body += width == 8 ? "\\U" : "\\u"
        body += String(repeating: "0", count: width - digits.count) + digits
        needsEscapes = true
      default: body.unicodeScalars.append(scalar)
      }
    }
    return (needsEscapes ? "E'" : "'") + body + "'"
  }

  /// Returns a quoted identifier such as `"my ""schema"""`.
  package static func identifier(_ name: String) -> String {
    var body = ""
    for scalar in name.unicodeScalars {
      if scalar == "\"" { body += "\"" }
      body.unicodeScalars.append(scalar)
    }
    return "\"\(body)\""
  }
}

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
