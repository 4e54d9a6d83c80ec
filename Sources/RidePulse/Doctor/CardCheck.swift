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
    switch sent {
    case .unasked: return []
    case .failed(let why):
      return [
        .warning("cards", "their types can't be read: \(why)", "run ridepulse doctor again")
      ]
    case .known(let sent):
      return Set(sent.map(\.line.attributesType)).sorted().map { name in
        card(name, sent.filter { $0.line.attributesType == name }, rules)
      }
    }
  }

  private static func card(
    _ type: String, _ sent: [SentCardType], _ rules: RuleSet
  ) -> CheckResult {
    let name = "card \(type)"
    let fields = Dictionary(grouping: sent, by: \.line.field).sorted { $0.key < $1.key }
    guard let contract = rules.contracts.first(where: { $0.typeName == type }) else {
      return .warning(
        name, "was sent in the last day, and no rule has this attributes-type any more",
        "if apps in the field still have it, restore its rule")
    }
    let faults = fields.compactMap { fault($0.key, $0.value, contract) }
    if faults.isEmpty {
      let words = fields.map { "\($0.key) \(types($0.value))" }
      return .ok(name, "in the last day: \(DatabaseCheck.list(words))")
    }
    return .warning(
      name, "in the last day \(DatabaseCheck.list(faults)): iOS drops what the app can't decode",
      "state the type in \(places(rules, type)), then: ridepulse check --against \(type).swift")
  }

  private static func types(_ sent: [SentCardType]) -> String {
    sent.map(\.line.type.rawValue).joined(separator: " or ")
  }

  /// Returns what is wrong with the types of a field; nil if nothing is.
  static func fault(
    _ name: String, _ sent: [SentCardType], _ contract: CardContract
  ) -> String? {
    let words = sent.map { sent in
      "\(sent.line.type.rawValue) (\(counted(Int(sent.line.count), "push", "pushes")), last "
        + "\(CivilTime.iso(sent.lastAt)))"
    }
    let list = words.joined(separator: " and ")
    guard let field = contract.fields.first(where: { $0.key.joined(separator: ".") == name })?.value
    else { return "\(name) was \(list): no rule has it" }
    let types = Set(sent.map(\.line.type))
    if let allowed = field.type.jsonTypes {
      let others = types.subtracting(allowed).subtracting(field.isOptional ? [.null] : [])
      return others.isEmpty ? nil : "\(name) was \(list), and the rule's type is \(field.type.word)"
    }
    return types.count > 1 ? "\(name) was \(list)" : nil
  }

  private static func places(_ rules: RuleSet, _ type: String) -> String {
    rules.cards(of: type).map(\.source).joined(separator: ", ")
  }

  private static func startTokens(
    _ tokens: Probe<[StartTokenCount]>, _ rules: RuleSet
  ) -> [CheckResult] {
    let name = "start tokens"
    switch tokens {
    case .unasked: return []
    case .failed(let why):
      return [.warning(name, "they can't be counted: \(why)", "run ridepulse doctor again")]
    case .known(let tokens):
      let unknown = tokens.filter { token in
        !rules.cards(of: token.attributesType).contains { $0.app == token.app }
      }
      if unknown.isEmpty { return [] }
      let list = DatabaseCheck.list(unknown.map { describe($0, rules) })
      return [
        .warning(
          name, "apps registered attributes types that no rule of the app has: \(list)",
          "register_push_to_start needs the name of the struct as in attributes-type; correct the "
            + "app, or add a live-activity rule")
      ]
    }
  }

  private static func describe(_ tokens: StartTokenCount, _ rules: RuleSet) -> String {
    let own = rules.contracts.map(\.typeName)
      .filter { name in rules.cards(of: name).contains { $0.app == tokens.app } }
    let near = nearestWord(to: tokens.attributesType, among: own) ?? own.first
    let count =
      tokens.count == StartTokenCount.limit
      ? "\(tokens.count) or more tokens" : counted(Int(tokens.count), "token")
    return "\"\(tokens.attributesType)\" of \(tokens.app) (\(count)"
      + (near.map { "; its rules have \($0))" } ?? "; it has no live-activity rule)")
  }
}

extension FieldType {
  /// The JSON types of its values; nil if any type will do, as long as it is the same.
  fileprivate var jsonTypes: Set<CardTypeTally.JSONType>? {
    switch self {
    case .string, .state: [.string]
    case .int, .dateEpoch: [.int]
    case .double: [.int, .fraction]
    case .bool: [.bool]
    case .list: [.list]
    case .object: [.object]
    case .unknown: nil
    }
  }
}
