/// The checks that can be switched; words of the command line select them.
struct Strictness: OptionSet, Sendable {
  let rawValue: UInt8

  /// A message without `android.priority`: its default differs between Google's pages.
  static let priority = Strictness(rawValue: 1)
  /// A message without `android.ttl`, which FCM keeps for 28 days.
  static let ttl = Strictness(rawValue: 2)
  /// Messages of a card whose `rp_ts` does not rise, or that follow its end.
  static let cards = Strictness(rawValue: 4)
  /// Registrations that `registrations.json` does not have.
  static let unknown = Strictness(rawValue: 8)
  /// Reserved keys of `data`.
  static let payload = Strictness(rawValue: 16)
  /// Messages of more than 4096 bytes.
  static let size = Strictness(rawValue: 32)
  /// High priority of messages that show nothing, which is lowered after five.
  static let high = Strictness(rawValue: 64)
  /// `message.android_v2`, which is in preview.
  static let androidV2 = Strictness(rawValue: 128)

  /// Without `unknown`, which needs a file.
  static let all: Strictness = [.priority, .ttl, .cards, .payload, .size, .high, .androidV2]
  static let standard: Strictness = [.cards, .payload, .size, .high, .androidV2]

  private static let named: [(name: String, value: Strictness)] = [
    ("priority", .priority), ("ttl", .ttl), ("cards", .cards), ("payload", .payload),
    ("size", .size), ("high", .high), ("android-v2", .androidV2), ("unknown", .unknown),
    ("all", .all),
  ]

  /// The words of the command line.
  static let names = named.map(\.name)

  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  init?(name: String) {
    guard let value = Self.named.first(where: { $0.name == name })?.value else { return nil }
    self = value
  }
}
