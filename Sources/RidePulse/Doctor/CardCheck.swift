import Base
import PostgresStore
import RideCore

/// Compares what cards were really sent, and the start tokens of apps, with the rules.
enum CardCheck {
  /// Returns a result for each type of card that was sent in the last day, and a warning if apps
  /// registered start tokens of types that no rule has.
  static func results(
    _ sent: Probe<[SentCardType]>, _ tokens: Probe<[StartTokenCount]>, _ rules: RuleSet?
  ) -> [CheckResult] {
    guard let rules else { return [] }
    return types(sent, rules) + startTokens(tokens, rules)
  }

  private static func types(_ sent: Probe<[SentCardType]>, _ rules: RuleSet) -> [CheckResult] {
    sent.judged("cards", else: "their types can't be read") { sent in
      CardUsage.all(sent, rules).map { result($0, rules) }
    }
  }

  private static func result(_ card: CardUsage, _ rules: RuleSet) -> CheckResult {
    let type = card.attributesType
    let name = "card \(type)"
    guard card.hasRule else {
      return .warning(
        name, "was sent in the last day, and no rule has this attributes-type any more",
        "if apps in the field still have it, restore its rule")
    }
    let faults = card.fields.compactMap(describe)
    if faults.isEmpty {
      let words = card.fields.map { field in
        "\(field.name) \(field.sent.map(\.line.type.rawValue).joined(separator: " or "))"
      }
      return .ok(name, "in the last day: \(DatabaseCheck.list(words))")
    }
    return .warning(
      name, "in the last day \(DatabaseCheck.list(faults)): iOS drops what the app can't decode",
      "state the type in \(locations(rules, type)), then: ridepulse check --against \(type).swift")
  }

  /// Returns what is wrong with the types of a field; nil if nothing is.
  private static func describe(_ field: CardUsage.Field) -> String? {
    guard let fault = field.fault else { return nil }
    let words = field.sent.map { sent in
      "\(sent.line.type.rawValue) (\(counted(Int(sent.line.count), "push", "pushes")), last "
        + "\(CivilTime.iso(sent.lastAt)))"
    }
    let list = "\(field.name) was \(words.joined(separator: " and "))"
    return switch fault {
    case .notInRules: "\(list): no rule has it"
    case .otherType(let type): "\(list), and the rule's type is \(type.word)"
    case .severalTypes: list
    }
  }

  private static func locations(_ rules: RuleSet, _ type: String) -> String {
    rules.cards(of: type).map(\.source).joined(separator: ", ")
  }

  private static func startTokens(
    _ tokens: Probe<[StartTokenCount]>, _ rules: RuleSet
  ) -> [CheckResult] {
    let name = "start tokens"
    return tokens.judged(name, else: "they can't be counted") { tokens in
      let unknown = UnknownStartTokens.all(tokens, rules)
      if unknown.isEmpty { return [] }
      let list = DatabaseCheck.list(unknown.map(describe))
      return [
        .warning(
          name, "apps registered attributes types that no rule of the app has: \(list)",
          "register_push_to_start needs the name of the struct as in attributes-type; correct the "
            + "app, or add a live-activity rule")
      ]
    }
  }

  private static func describe(_ unknown: UnknownStartTokens) -> String {
    "\"\(unknown.tokens.attributesType)\" of \(unknown.tokens.app) (\(unknown.countText)"
      + (unknown.nearest.map { "; its rules have \($0))" } ?? "; it has no live-activity rule)")
  }
}
