package import Base

/// What a rule asks before it disturbs a person: its topic, its share of people, the hour, the count.
package struct RuleLimits: Hashable, Sendable {
  /// `topic`: what a person can turn off; nil for a rule that is required.
  package var topic: Topic?
  /// `sample`: the share of owners that receive it.
  package var sample: OwnerSample?
  /// `quiet`, of the rule or of `defaults`.
  package var quiet: QuietHours?
  /// `at-most`: how many of its pushes, or of those of its topic, an owner receives.
  package var cap: PushCap?

  package init() {}

  package var isEmpty: Bool { topic == nil && sample == nil && quiet == nil && cap == nil }
}

/// What `defaults` states for the rules of all files.
package struct RuleDefaults: Hashable, Sendable {
  /// The quiet hours of alert rules that a person can turn off; see `RuleLimits.quiet`.
  package var quiet: QuietHours?
  /// The locale whose text a phone of another one gets.
  package var locale: String?
  /// The zone of events about no ride, and of rides whose zone is unknown.
  package var zone: ZoneTimes?

  package init(quiet: QuietHours? = nil, locale: String? = nil, zone: ZoneTimes? = nil) {
    self.quiet = quiet
    self.locale = locale
    self.zone = zone
  }

  /// Returns the quiet hours of a rule that states none.
  ///
  /// They are for alerts that can wait: whatever a person can't turn off, or that breaks through
  /// Focus, is worth the hour. Pushes without an alert make no sound, and a card must be right
  /// whenever its owner looks at it.
  package func quiet(for what: Rule.What, topic: Topic?) -> QuietHours? {
    guard topic != nil, case .alert(let alert, _) = what else { return nil }
    switch alert.interruptionLevel {
    case .timeSensitive, .critical: return nil
    case .active, .passive, nil: return quiet
    }
  }
}

/// `sample`: a fixed share of owners, chosen by a hash of the rule's name and the owner's ID.
///
/// The hash is the first 32 bits of SHA-256 of `RULE/OWNER`. An owner is in the sample if
/// `hash * 1000000 < millionths * 2^32`; docs/rules.md has the same as an SQL expression.
package struct OwnerSample: Hashable, Sendable {
  /// The share in millionths: 100,000 is 10 %.
  package let millionths: UInt64

  /// Parses a percentage such as `10%` or `0.5%`, above 0 and at most 100, with up to four decimals;
  /// nil for anything else.
  package init?(text: String) {
    guard text.utf8.last == UInt8(ascii: "%") else { return nil }
    let parts = text.dropLast().split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? parts[1] : ""
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard isNumber, let whole = parts.first, whole.count <= 3, decimals.count <= 4,
      let millionths = UInt64(
        whole + decimals + String(repeating: "0", count: 4 - decimals.count)),
      (1...1_000_000).contains(millionths)
    else { return nil }
    self.millionths = millionths
  }

  package init?(millionths: UInt64) {
    guard (1...1_000_000).contains(millionths) else { return nil }
    self.millionths = millionths
  }

  package func contains(_ owner: OwnerID, of rule: String) -> Bool {
    Self.hash(owner, of: rule) * 1_000_000 < millionths << 32
  }

  /// Returns the first 32 bits of SHA-256 of `RULE/OWNER`.
  static func hash(_ owner: OwnerID, of rule: String) -> UInt64 {
    let digest = SHA256.digest("\(rule)/\(owner.text)".utf8)
    return digest.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The share as in a rule file, without superfluous zeros.
  package var text: String {
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 10_000)
    if rest == 0 { return "\(whole)%" }
    var decimals = String(String(rest + 10_000).dropFirst())
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)%"
  }
}
