/// The rules that refuse what FCM accepts; a switch of the command line selects them.
struct Strictness: OptionSet, Sendable {
  let rawValue: UInt8

  /// A message without `android.priority`: its default differs between Google's pages.
  static let priority = Strictness(rawValue: 1)
  /// A message without `android.ttl`, which FCM keeps for 28 days.
  static let ttl = Strictness(rawValue: 2)
  /// Messages of a card whose `rp_ts` does not rise, or that follow its end.
  static let cards = Strictness(rawValue: 4)
  /// Registrations that `registrations.json` does not have.
  static let registrations = Strictness(rawValue: 8)

  static let all: Strictness = [.priority, .ttl, .cards]
  static let standard: Strictness = .cards

  /// The words of the command line.
  static let names = ["priority", "ttl", "cards", "registrations", "all"]

  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  init?(name: String) {
    switch name {
    case "priority": self = .priority
    case "ttl": self = .ttl
    case "cards": self = .cards
    case "registrations": self = .registrations
    case "all": self = .all
    default: return nil
    }
  }
}
