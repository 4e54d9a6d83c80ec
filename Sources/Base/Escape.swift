/// Escapes untrusted text for the output that shows it.
///
/// Every function works on Unicode scalars, because a `Character` may hide the scalar to escape:
/// U+0600 before `<`, and `'` before a combining mark, are one `Character` each.
package enum Escape {
  /// Returns the text on one line.
  ///
  /// Scalars that control a terminal, break the line, reverse the reading direction or are
  /// invisible are written as `\u{1b}`.
  package static func line(_ text: some StringProtocol) -> String {
    shown(text) { $0.isUnprintable }
  }

  /// Returns the same for text of several lines: line feeds and tabs are kept.
  package static func lines(_ text: some StringProtocol) -> String {
    shown(text) { $0.isUnprintable && $0 != "\n" && $0 != "\t" }
  }

  /// Returns a JSON text that is also safe on a terminal: unprintable scalars in strings become
  /// `\u001b`.
  ///
  /// - Parameter json: a valid JSON text, so that outside its strings the only unprintable scalars
  ///   are white space, which is kept.
  package static func json(_ json: String) -> String {
    if isPlain(json) { return json }
    return rewritten(json) { scalar in
      scalar.isUnprintable && !["\n", "\r", "\t"].contains(scalar) ? unicodeEscapes(scalar) : nil
    }
  }

  /// Returns the same for a `<script>` element: the result contains neither `</script>` nor `<!--`.
  package static func jsonInHTML(_ json: String) -> String {
    rewritten(json) { scalar in
      let isMarkup = scalar == "<" || scalar == ">" || scalar == "&"
      return isMarkup || scalar.isUnprintable ? unicodeEscapes(scalar) : nil
    }
  }

  /// Returns two texts as a person tells them apart: with odd spaces and invisible characters as
  /// `\u{2068}` if nothing else differs, because a no-break space looks like a space.
  package static func comparable(_ one: String, _ other: String) -> (String, String) {
    if visible(one) != visible(other) || isPlain(one) && isPlain(other) { return (one, other) }
    return (shown(one) { $0.isUnseen }, shown(other) { $0.isUnseen })
  }

  /// Returns a byte as URIs and workflow commands escape it, such as `%0A`.
  package static func percent(_ byte: UInt8) -> String {
    "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  private static func visible(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { !$0.isUnseen && $0 != " " }
  }

  private static func shown(
    _ text: some StringProtocol, _ isEscaped: (Unicode.Scalar) -> Bool
  ) -> String {
    if isPlain(text) { return String(text) }
    return rewritten(text) { isEscaped($0) ? "\\u{\(String($0.value, radix: 16))}" : nil }
  }

  /// Returns whether the text is only printable ASCII, as nearly all texts are.
  private static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  /// Returns `\u001b`, or a pair of escapes for a scalar beyond 16 bits, as in JSON and JavaScript.
  private static func unicodeEscapes(_ scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar).map { units in
      units.map { "\\u" + String($0, radix: 16, width: 4) }.joined()
    } ?? ""
  }

  private static func rewritten(
    _ text: some StringProtocol, _ replacement: (Unicode.Scalar) -> String?
  ) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let replacement = replacement(scalar) {
        result.append(contentsOf: replacement.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar controls, breaks, reverses or hides the text around it.
  ///
  /// Joiners count as printable: emoji and Persian need them.
  package var isUnprintable: Bool {
    if value < 0x7f { return value < 0x20 }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    case .format: return value != 0x200c && value != 0x200d
    default: return false
    }
  }
}

extension Unicode.Scalar {
  /// Whether a reader does not see it, or takes it for a plain space.
  fileprivate var isUnseen: Bool {
    if isUnprintable || properties.isDefaultIgnorableCodePoint { return true }
    return properties.isWhitespace && self != " "
  }
}

extension String {
  /// Returns the start of the text on one line, for a table column: at most `limit` bytes, and
  /// without NUL characters, which Postgres refuses.
  package func brief(bytes limit: Int) -> String {
    var result = String.UnicodeScalarView()
    var size = 0
    for scalar in unicodeScalars where scalar != "\0" {
      size += UTF8.width(scalar)
      if size > limit { break }
      result.append(scalar.isLineBreak ? " " : scalar)
    }
    return String(result)
  }
}

extension String {
  /// The beginning of the text in quotes, for a reason that names a value from outside.
  package var quotedBrief: String { "\"\(brief(bytes: 60))\"" }
}

extension Unicode.Scalar {
  fileprivate var isLineBreak: Bool {
    (0xa...0xd).contains(value) || [0x85, 0x2028, 0x2029].contains(value)
  }
}
