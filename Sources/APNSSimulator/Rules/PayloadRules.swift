import SimulatorKit

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
    Rule("payload is an object, with aps if the phone reads it", of: .payloads) { push in
      guard push.payload?.object != nil else {
        let error = push.payloadError.map { "the payload is no JSON: \($0)" }
        return Refusal(.badPayload, error ?? "the payload is JSON, and no object")
      }
      guard push.pushType?.needsAps != false, push.aps == nil else { return nil }
      return Refusal(.badPayload, "no aps object in the payload")
    },
    Rule("aps has values of Apple's types", of: .payloads) { push in
      let wrong = first(of: push) { value, key in key?.accepts(value) == false }
      return wrong.map { Refusal(.badPayload, "aps.\($0.name) is \($0.value)") }
    },
    Rule("aps has the push type's keys only", of: .payloads) { push in
      guard let type = push.pushType, type.needsAps else { return nil }
      let wrong = first(of: push) { _, key in key?.types.contains(type) == false }
      return wrong.map {
        Refusal(.invalidPushType, "aps.\($0.name) is not a key of \(type) pushes")
      }
    },
    Rule("aps has Apple's keys only", of: .aps) { push in
      guard push.pushType?.needsAps != false else { return nil }
      let wrong = first(of: push) { _, key in key == nil }
      return wrong.map {
        Refusal(.badPayload, "aps.\($0.name) is not a key of Apple's; own keys go next to aps")
      }
    },
    Rule("aps has no empty text, and no integer with a fraction", of: .aps) { push in
      for name in texts where push.aps?[name] == .string("") {
        return Refusal(.badPayload, "aps.\(name) is empty")
      }
      for name in integers {
        guard let value = push.aps?[name], value.whole != nil, value.integer == nil else {
          continue
        }
        return Refusal(.badPayload, "aps.\(name) is written with a fraction or an exponent")
      }
      return nil
    },
  ]

  private static let texts = [
    "category", "filter-criteria", "sound", "target-content-id", "thread-id",
  ]
  private static let integers = [
    "badge", "content-available", "dismissal-date", "input-push-token", "mutable-content",
    "stale-date", "timestamp",
  ]

  /// Returns the first key of `aps`, in alphabetical order, with a mistake.
  private static func first(
    of push: Push, where isWrong: (JSON, Key?) -> Bool
  ) -> (name: String, value: JSON)? {
    var first: (name: String, value: JSON)?
    for (name, value) in push.aps ?? [:] where isWrong(value, keys[name]) {
      if let first, first.name < name { continue }
      first = (name, value)
    }
    return first
  }

  /// A key of `aps`: the push types to which it belongs, and the values that it may have.
  private struct Key {
    let types: Set<PushType>
    let accepts: @Sendable (JSON) -> Bool

    init(_ types: Set<PushType>, _ accepts: @escaping @Sendable (JSON) -> Bool) {
      self.types = types
      self.accepts = accepts
    }
  }

  private static let interruptionLevels: Set<String> = [
    "passive", "active", "time-sensitive", "critical",
  ]

  private static let isText: @Sendable (JSON) -> Bool = { $0.string != nil }
  private static let isObject: @Sendable (JSON) -> Bool = { $0.object != nil }
  private static let isOne: @Sendable (JSON) -> Bool = { $0.whole == 1 }
  /// The Live Activity rules check these more closely and give a more detailed refusal.
  private static let isAnything: @Sendable (JSON) -> Bool = { _ in true }

  /// All keys of `aps`.
  static let names: Set<String> = Set(keys.keys)

  private static let keys: [String: Key] = [
    "alert": Key([.alert, .liveactivity]) { $0.string != nil || $0.object != nil },
    "badge": Key([.alert]) { ($0.whole ?? -1) >= 0 },
    "sound": Key([.alert]) { isText($0) || isObject($0) },
    "thread-id": Key([.alert], isText),
    "category": Key([.alert], isText),
    "content-available": Key([.alert, .background], isOne),
    "mutable-content": Key([.alert], isOne),
    "target-content-id": Key([.alert], isText),
    "interruption-level": Key([.alert]) { interruptionLevels.contains($0.string ?? "") },
    "relevance-score": Key([.alert, .liveactivity]) { $0.double != nil },
    "filter-criteria": Key([.alert], isText),
    "content-changed": Key([.widgets, .controls]) { $0 == .bool(true) },
    "timestamp": Key([.liveactivity], isAnything),
    "event": Key([.liveactivity], isAnything),
    "content-state": Key([.liveactivity], isAnything),
    "stale-date": Key([.liveactivity], isAnything),
    "dismissal-date": Key([.liveactivity], isAnything),
    "attributes-type": Key([.liveactivity], isAnything),
    "attributes": Key([.liveactivity], isAnything),
    "input-push-token": Key([.liveactivity], isOne),
    "input-push-channel": Key([.liveactivity], isText),
  ]
}

/// Rules for pushes of type `alert`: they must show something.
enum AlertRules {
  private static let texts = [
    "title", "subtitle", "body", "loc-key", "title-loc-key", "subtitle-loc-key",
  ]
  private static let arguments = ["loc-args", "title-loc-args", "subtitle-loc-args"]
  private static let otherKeys = [
    "launch-image", "action", "action-loc-key", "summary-arg", "summary-arg-count",
  ]
  /// All keys of `alert`.
  static let names = Set(texts + arguments + otherKeys)

  static let all: [Rule] = [
    rule("texts are strings, arguments lists of them", of: .payloads) { aps in
      for (key, value) in aps["alert"]?.object ?? [:] {
        if texts.contains(key), value.string == nil { return "aps.alert.\(key) is not a string" }
        if arguments.contains(key), value.array?.allSatisfy({ $0.string != nil }) != true {
          return "aps.alert.\(key) must be a list of strings"
        }
      }
      return nil
    },
    rule("text, badge or sound", of: .payloads) { aps in
      let alert = aps["alert"]
      let shown = alert?.object.map { members in texts.map { members[$0]?.string ?? "" } }
      if aps["badge"] != nil || aps["sound"] != nil { return nil }
      let isShown = (shown ?? [alert?.string ?? ""]).contains { !$0.isEmpty }
      return isShown ? nil : "an alert push needs a text, a badge or a sound"
    },
    rule("relevance-score is from 0 to 1", of: .payloads) { aps in
      guard let score = aps["relevance-score"]?.double, !(0...1).contains(score) else { return nil }
      return "aps.relevance-score is \(score)"
    },
    rule("no text is empty, no key unknown", of: .aps) { aps in
      if aps["alert"] == .string("") { return "aps.alert is empty" }
      for (key, value) in aps["alert"]?.object ?? [:] {
        if texts.contains(key), value.string == "" { return "aps.alert.\(key) is empty" }
        if !names.contains(key) {
          return "aps.alert.\(key) is not a key of Apple's"
        }
      }
      return nil
    },
  ]

  private static func rule(
    _ name: String, of part: Strictness,
    _ check: @escaping @Sendable (_ aps: [String: JSON]) -> String?
  ) -> Rule {
    Rule("alert: " + name, of: part) { push in
      guard push.pushType == .alert, let aps = push.aps else { return nil }
      return check(aps).map { Refusal(.invalidPushType, $0) }
    }
  }
}

/// Rules for pushes that show nothing: they wake the app or reload its widgets and controls.
enum SilentRules {
  static let all: [Rule] = [
    rule("content-available", of: [.background]) { $0?.whole == 1 },
    rule("content-changed", of: [.widgets, .controls]) { $0 == .bool(true) },
  ]

  private static func rule(
    _ key: String, of types: [PushType], _ accepts: @escaping @Sendable (JSON?) -> Bool
  ) -> Rule {
    Rule("\(types[0]): \(key) is there", of: .payloads) { push in
      guard let type = push.pushType, types.contains(type), let aps = push.aps,
        !accepts(aps[key])
      else { return nil }
      return Refusal(.invalidPushType, "a \(type) push needs aps.\(key)")
    }
  }
}
