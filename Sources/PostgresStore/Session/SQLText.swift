import Base
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
        let width = scalar.value > 0xffff ? 8 : 4
        body += (width == 8 ? "\\U" : "\\u") + String(scalar.value, radix: 16, width: width)
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
