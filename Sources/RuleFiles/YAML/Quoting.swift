/// Words of a file within a message: in quotes, short, and on one line whatever they hold.
func quoted(_ text: some StringProtocol) -> String {
  "\"\(shortened(text))\""
}

/// The start of a text, control characters escaped.
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

/// `a, b or c`.
func alternatives(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}
