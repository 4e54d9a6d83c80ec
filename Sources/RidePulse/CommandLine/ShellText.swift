import RideCore

/// Formats a value as one word of a shell command for a person to paste.
enum ShellText {
  /// Returns the word unchanged if no shell would change it, else in quotes. An unprintable scalar
  /// needs `$'…'`, which bash and zsh support.
  static func word(_ text: String) -> String {
    let scalars = text.unicodeScalars
    if scalars.contains(where: \.isUnprintable) {
      return "$'" + scalars.map(ansiC).joined() + "'"
    }
    if !scalars.isEmpty, scalars.allSatisfy({ isPlain($0) }) { return text }
    if !scalars.contains("'") { return "'\(text)'" }
    // An interactive bash expands ! within double quotes.
    if !scalars.contains(where: { ["$", "`", "\\", "\"", "!"].contains($0) }) {
      return "\"\(text)\""
    }
    return "'" + scalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "=", "@", "%", "+", ",": true
    default: false
    }
  }

  private static func ansiC(_ scalar: Unicode.Scalar) -> String {
    if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
    if !scalar.isUnprintable { return String(scalar) }
    return String(scalar).utf8.map { byte in
      "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
