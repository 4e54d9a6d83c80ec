/// Returns text of a file for a message: in quotes, short, and always on one line.
func quoted(_ text: some StringProtocol) -> String {
  "\"\(shortened(text))\""
}

/// Returns the start of a text with control characters escaped.
func shortened(_ text: some StringProtocol) -> String {
  let limit = 60
  let start = text.unicodeScalars.prefix(limit + 1)
  var short = ""
  for scalar in start.prefix(limit) {
    switch scalar {
    case "\n": short += "\\n"
    case "\t": short += "\\t"
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
        short += "\\u{\(String(scalar.value, radix: 16))}"
      default: short.unicodeScalars.append(scalar)
      }
    }
  }
  return start.count > limit ? short + "…" : short
}

/// Returns the words as `a, b or c`.
func alternatives(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}
