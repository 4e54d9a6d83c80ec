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

/// Rules for pushes of type `alert`: they must show something, and nothing empty.
enum AlertRules {
  private static let texts = [
    "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key",
  ]
  private static let arguments = ["loc-args", "title-loc-args", "subtitle-loc-args"]
  private static let otherKeys = ["launch-image"]

  static let all: [Rule] = [
    Rule("alert shows something") { push in
      guard push.pushType == .alert else { return nil }
      switch push.aps?["alert"] {
      case .string(let text): return text.isEmpty ? mismatch("aps.alert is empty") : nil
      case .object(let alert): return checkDictionary(alert)
      default: return mismatch("an alert push needs aps.alert")
      }
    },
    Rule("alert carries no Live Activity keys") { push in
      guard push.pushType == .alert, let aps = push.aps else { return nil }
      let stray = ["event", "content-state", "timestamp", "attributes"].first { aps[$0] != nil }
      return stray.map { mismatch("aps.\($0) belongs to a liveactivity push") }
    },
  ]

  private static func checkDictionary(_ alert: [String: JSON]) -> Refusal? {
    for (key, value) in alert {
      if texts.contains(key) {
        guard let text = value.string, !text.isEmpty else {
          return mismatch("aps.alert.\(key) is empty or no string")
        }
      } else if arguments.contains(key) {
        guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
          return mismatch("aps.alert.\(key) must be a list of strings")
        }
      } else if !otherKeys.contains(key) {
        return mismatch("aps.alert.\(key) is no key of Apple's")
      }
    }
    return texts.contains { alert[$0] != nil } ? nil : mismatch("aps.alert has no text")
  }

  private static func mismatch(_ detail: String) -> Refusal {
    Refusal(.invalidPushType, detail)
  }
}

/// Rules for pushes of type `background`: they wake the app and show nothing.
enum BackgroundRules {
  static let all: [Rule] = [
    Rule("background is content-available alone") { push in
      guard push.pushType == .background, let aps = push.aps else { return nil }
      guard aps["content-available"] == .integer(1) else {
        return Refusal(.invalidPushType, "a background push needs aps.content-available 1")
      }
      let stray = aps.keys.sorted().first { $0 != "content-available" }
      return stray.map { Refusal(.invalidPushType, "aps.\($0) in a background push") }
    }
  ]
}
