/// The rules that refuse what APNs accepts; a switch of the command line selects them.
struct Strictness: OptionSet, Sendable {
  let rawValue: UInt8

  /// Payloads that APNs answers with 200, and that the phone drops or shows in part.
  static let payloads = Strictness(rawValue: 1)
  /// Headers for which APNs has a default, or which it ignores.
  static let headers = Strictness(rawValue: 2)
  /// Unknown keys and empty texts in `aps`, which are mostly misspelled or unfilled.
  static let aps = Strictness(rawValue: 4)
  /// Provider tokens whose `iat` is no integer, or more than five minutes ahead.
  static let jwt = Strictness(rawValue: 8)

  static let all: Strictness = [.payloads, .headers, .aps, .jwt]

  /// A payload that no phone can use is the most expensive mistake, because APNs never reports it.
  static let standard: Strictness = .payloads

  /// The words of the command line.
  static let names = ["payloads", "headers", "aps", "jwt", "all"]

  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  init?(name: String) {
    switch name {
    case "payloads": self = .payloads
    case "headers": self = .headers
    case "aps": self = .aps
    case "jwt": self = .jwt
    case "all": self = .all
    default: return nil
    }
  }
}
