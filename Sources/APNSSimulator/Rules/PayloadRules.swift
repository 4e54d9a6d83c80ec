/// Rules for the size and form of the payload, for every push type.
enum PayloadRules {
  static let all: [Rule] = size + form

  private static let size: [Rule] = [
    Rule("payload is there") { push in
      push.request.bodyBytes == 0 ? Refusal(.payloadEmpty, "no payload") : nil
    },
    Rule("payload is small enough") { push in
      let limit = push.pushType?.maximumPayloadBytes ?? 0
      return push.request.bodyBytes > limit
        ? Refusal(.payloadTooLarge, "\(push.request.bodyBytes) bytes, at most \(limit)") : nil
    },
  ]

  /// The rules that apply to broadcasts too.
  static let form: [Rule] = [
    Rule("payload is an object with aps") { push in
      push.aps == nil ? Refusal(.badPayload, "expected a JSON object with an aps object") : nil
    },
    Rule("aps holds Apple's keys, with values of their types") { push in
      for (key, value) in push.aps ?? [:] {
        guard let accepts = apsKeys[key] else {
          return Refusal(.badPayload, "aps.\(key) is no key of Apple's; own keys go beside aps")
        }
        guard accepts(value) else { return Refusal(.badPayload, "aps.\(key) is \(value)") }
      }
      return nil
    },
  ]

  private static let interruptionLevels: Set<String> = [
    "passive", "active", "time-sensitive", "critical",
  ]

  private static let isText: @Sendable (JSON) -> Bool = { ($0.string ?? "") != "" }
  private static let isObject: @Sendable (JSON) -> Bool = { $0.object != nil }
  private static let isOne: @Sendable (JSON) -> Bool = { $0 == .integer(1) }
  /// The Live Activity rules check these more closely and give a more detailed refusal.
  private static let isAnything: @Sendable (JSON) -> Bool = { _ in true }

  private static let apsKeys: [String: @Sendable (JSON) -> Bool] = [
    "alert": { $0.string != nil || $0.object != nil },
    "badge": { ($0.integer ?? -1) >= 0 },
    "sound": { isText($0) || isObject($0) },
    "thread-id": isText,
    "category": isText,
    "content-available": isOne,
    "mutable-content": isOne,
    "target-content-id": isText,
    "interruption-level": { interruptionLevels.contains($0.string ?? "") },
    "relevance-score": { $0.isNumber },
    "filter-criteria": isText,
    "content-changed": { $0 == .bool(true) },
    "timestamp": isAnything,
    "event": isAnything,
    "content-state": isAnything,
    "stale-date": isAnything,
    "dismissal-date": isAnything,
    "attributes-type": isAnything,
    "attributes": isAnything,
    "input-push-token": isOne,
    "input-push-channel": isText,
  ]
}
