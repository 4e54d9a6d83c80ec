/// The allowed form of a name in the rule files.
enum WordForm {
  /// A rule's name, which is used in the ledger, in commands and in metrics.
  case ruleName
  /// An app, which becomes part of the name of an environment variable.
  case app
  /// A state or an event that the service defines.
  case event

  /// The maximum number of letters of a name.
  static let lengthLimit = 64

  /// A description of the allowed form, for messages.
  var rule: String {
    switch self {
    case .ruleName: "a name of a-z, 0-9 and -, at most 64, such as driver-arrived"
    case .app: "an app such as customer or driver: a-z, 0-9, - and _, at most 64"
    case .event: "a word of letters, digits, _, - and ., at most 64, such as driver_arrived"
    }
  }

  /// Returns the word with disallowed letters corrected; nil if the result is not allowed either.
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
