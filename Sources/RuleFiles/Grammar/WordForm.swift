/// How a name in the rule files may look.
enum WordForm {
  /// A rule's name: it stands in the ledger, in commands and in metrics.
  case ruleName
  /// An app: it becomes part of the name of a variable.
  case app
  /// A state or an event, in the service's own words.
  case event

  /// The most letters of a name.
  static let lengthLimit = 64

  /// What is allowed, for messages.
  var rule: String {
    switch self {
    case .ruleName: "a name of a-z, 0-9 and -, at most 64, such as driver-arrived"
    case .app: "an app such as customer or driver: a-z, 0-9, - and _, at most 64"
    case .event: "a word of letters, digits, _, - and ., at most 64, such as driver_arrived"
    }
  }

  /// The word with other letters put right; nil where that gives no allowed word either.
  func repaired(_ word: String) -> String? {
    guard !word.contains("{{"), word.utf8.count <= Self.lengthLimit,
      word.utf8.allSatisfy({ $0 < 0x80 })
    else { return nil }
    let cased = self == .event ? word : word.lowercased()
    let letters = cased.split { !allows(String($0)) }
    let repaired = letters.joined(separator: self == .ruleName ? "-" : "_")
    return allows(repaired) ? repaired : nil
  }

  func allows(_ word: String) -> Bool {
    guard (1...Self.lengthLimit).contains(word.utf8.count) else { return false }
    return word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        true
      case UInt8(ascii: "_"): self != .ruleName
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."): self == .event
      default: false
      }
    }
  }
}
