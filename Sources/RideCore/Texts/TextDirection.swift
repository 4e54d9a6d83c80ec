/// The direction of a text, and the isolates that keep a value of another direction in one piece.
///
/// Without them `7341 XYZ 2` in an Arabic text is drawn as `XYZ 2 7341`.
package enum TextDirection: Hashable, Sendable {
  case leftToRight
  case rightToLeft

  /// Returns the direction of a text's language; without one, that of the first letter with one.
  init(of text: TextTemplate, locale: String) {
    if LocaleTag(locale) != nil {
      self = FoundationFormats.isRightToLeft(locale) ? .rightToLeft : .leftToRight
      return
    }
    // A value alone is a text of its own direction.
    self = .leftToRight
    for case .literal(let literal) in text.segments {
      for scalar in literal.unicodeScalars {
        if Self.isRightToLeft(scalar) {
          self = .rightToLeft
          return
        }
        if scalar.properties.isAlphabetic { return }
      }
    }
  }

  /// Appends a value to a text of this direction, between U+2068 and U+2069 if it needs them.
  ///
  /// Controls of direction within the value go: one that is open would reverse what follows.
  func append(_ value: String, to text: inout String) {
    if self == .leftToRight, !Self.needsIsolate(value) {
      text += value
      return
    }
    let isBlank = value.unicodeScalars.allSatisfy {
      Self.isControl($0) || $0.properties.isWhitespace
    }
    // A blank value stays blank, so that a text without words is found.
    if !isBlank { text.unicodeScalars.append("\u{2068}") }
    for scalar in value.unicodeScalars where !Self.isControl(scalar) {
      text.unicodeScalars.append(scalar)
    }
    if !isBlank { text.unicodeScalars.append("\u{2069}") }
  }

  /// The most bytes that the isolates of a value take.
  static let isolateBytes = 6

  /// Whether a value in a text from left to right has a letter from right to left, or a control.
  private static func needsIsolate(_ value: String) -> Bool {
    // Hebrew, the first script from right to left, begins with the byte D6.
    guard value.utf8.contains(where: { $0 >= 0xD6 }) else { return false }
    return value.unicodeScalars.contains { isRightToLeft($0) || isControl($0) }
  }

  /// Whether it opens or closes an embedding, an override or an isolate.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }

  /// Whether it is in one of the blocks that Unicode keeps for scripts from right to left.
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0590...0x08FF, 0x200F, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF,
      0x1E800...0x1EFFF:
      true
    default: false
    }
  }
}
