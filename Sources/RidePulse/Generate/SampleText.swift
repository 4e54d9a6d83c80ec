import Base

/// Keys of fields as words, for sample values and comments of a generated source.
enum SampleText {
  /// Returns `Driver name` for `driverName`.
  static func words(_ key: String) -> String {
    var text = ""
    for character in key {
      // A line break would end the comment that the words are in.
      let isUnprintable = character.unicodeScalars.contains { $0.value < 0x20 || $0.isUnprintable }
      if character == "_" || character == "-" || isUnprintable {
        text += " "
      } else if character.isUppercase, !text.isEmpty {
        text += " " + character.lowercased()
      } else {
        text.append(character)
      }
    }
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}
