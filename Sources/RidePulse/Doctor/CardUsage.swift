import Base
import PostgresStore
import RideCore

/// The types that a card's fields were really sent in the last day, compared with the rules: the
/// source of `doctor` and of the page.
struct CardUsage {
  /// A field, with what is wrong with its types.
  struct Field {
    enum Fault {
      case notInRules
      case otherType(FieldType)
      case severalTypes
    }

    let name: String
    let sent: [SentCardType]
    let fault: Fault?
    /// The types with the fault.
    let faulty: Set<CardTypeTally.JSONType>

    /// - Parameter contracts: Those of the type: two sets of rules may each have one.
    init(_ name: String, _ sent: [SentCardType], of contracts: [CardContract]) {
      self.name = name
      self.sent = sent
      let types = Set(sent.map(\.line.type))
      (fault, faulty) = contracts.isEmpty ? (nil, []) : Self.fault(name, types, contracts)
    }

    private static func fault(
      _ name: String, _ types: Set<CardTypeTally.JSONType>, _ contracts: [CardContract]
    ) -> (Fault?, Set<CardTypeTally.JSONType>) {
      let fields = contracts.compactMap { contract in
        contract.fields.first { $0.key.joined(separator: ".") == name }?.value
      }
      guard let first = fields.first else { return (.notInRules, types) }
      var others = types
      for field in fields {
        guard let allowed = field.type.jsonTypes else {
          return types.count > 1 ? (.severalTypes, types) : (nil, [])
        }
        others.subtract(allowed)
        if field.isOptional { others.remove(.null) }
      }
      return (others.isEmpty ? nil : .otherType(first.type), others)
    }
  }

  let attributesType: String
  /// False if no rule has the type any more.
  let hasRule: Bool
  let fields: [Field]

  /// Returns the cards that were sent, in the order of their types.
  static func all(_ sent: [SentCardType], _ rules: RuleSet) -> [CardUsage] {
    Dictionary(grouping: sent, by: \.line.attributesType).sorted { $0.key < $1.key }
      .map { type, sent in
        let contracts = rules.contracts(of: type)
        let fields = Dictionary(grouping: sent, by: \.line.field).sorted { $0.key < $1.key }
        return CardUsage(
          attributesType: type, hasRule: !contracts.isEmpty,
          fields: fields.map { Field($0.key, $0.value, of: contracts) })
      }
  }
}

/// Push-to-start tokens of an attributes-type that no rule of their app has: no card starts with
/// them.
struct UnknownStartTokens {
  let tokens: StartTokenCount
  /// The most similar type of the app's rules; nil if they have none.
  let nearest: String?

  /// Returns them in the order of `tokens`.
  static func all(_ tokens: [StartTokenCount], _ rules: RuleSet) -> [UnknownStartTokens] {
    tokens.filter { token in
      !rules.cards(of: token.attributesType).contains { $0.app == token.app }
    }
    .map { token in
      let own = rules.contracts.map(\.typeName)
        .filter { name in rules.cards(of: name).contains { $0.app == token.app } }
      return UnknownStartTokens(
        tokens: token, nearest: nearestWord(to: token.attributesType, among: own) ?? own.first)
    }
  }

  /// `7 tokens`, or that there are more than were counted.
  var countText: String {
    tokens.count >= StartTokenCount.limit
      ? "\(StartTokenCount.limit) or more tokens" : counted(Int(tokens.count), "token")
  }
}

extension FieldType {
  /// The JSON types of its values; nil if any type will do, as long as it is the same.
  fileprivate var jsonTypes: Set<CardTypeTally.JSONType>? {
    switch self {
    case .string, .state, .words: [.string]
    case .int, .dateEpoch: [.int]
    case .double: [.int, .fraction]
    case .bool: [.bool]
    case .list: [.list]
    case .object: [.object]
    case .unknown: nil
    }
  }
}
