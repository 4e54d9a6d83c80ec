import Base
import PostgresStore
import RideCore

/// What cards were sent in the last day, and start tokens that start nothing, for the page.
enum CardUsageAnswer {
  /// How long an answer is reused: nodes record what they sent once a minute.
  static let freshness: Duration = .seconds(60)

  static func make(_ pool: SessionPool, _ rules: RuleSet) async throws -> [UInt8] {
    try await pool.with(.long) { session in
      json(try await SentCardType.all(session), try await StartTokenCount.all(session), rules)
    }
  }

  static func json(
    _ sent: [SentCardType], _ tokens: [StartTokenCount], _ rules: RuleSet
  ) -> [UInt8] {
    JSONValue.object([
      "cards": .array(CardUsage.all(sent, rules).map(card)),
      "start_tokens": .array(
        UnknownStartTokens.all(tokens, rules).map { unknown in
          .object([
            "app": .string(unknown.tokens.app.rawValue),
            "attributes_type": .string(unknown.tokens.attributesType),
            "tokens": .string(unknown.countText), "nearest": .orNull(unknown.nearest),
          ])
        }),
    ]).json
  }

  private static func card(_ card: CardUsage) -> JSONValue {
    .object([
      "attributes_type": .string(card.attributesType), "has_rule": .bool(card.hasRule),
      "fields": .array(
        card.fields.map { field in
          .object([
            "field": .string(field.name),
            "sent": .array(
              field.sent.map { sent in
                let isFaulty = field.faulty.contains(sent.line.type)
                return .object([
                  "type": .string(sent.line.type.rawValue), "pushes": .integer(sent.line.count),
                  "last_at": .string(CivilTime.iso(sent.lastAt)),
                  "fault": .orNull(isFaulty ? field.fault.map(describe) : nil),
                ])
              }),
          ])
        }),
    ])
  }

  private static func describe(_ fault: CardUsage.Field.Fault) -> String {
    switch fault {
    case .notInRules: "no rule has it"
    case .otherType(let type): "the rule's type is \(type.word)"
    case .severalTypes: "more than one type"
    }
  }
}
