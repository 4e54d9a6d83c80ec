/// Rules for pushes of type `liveactivity`: the keys that each event needs, dates in whole seconds.
enum LiveActivityRules {
  private static let events = ["start", "update", "end"]

  static let all: [Rule] = [
    rule("event is start, update or end") { aps, _ in
      events.contains(aps["event"]?.string ?? "")
        ? nil : "aps.event must be one of \(events.joined(separator: ", "))"
    },
    rule("timestamp is in seconds and of today") { aps, now in
      guard let timestamp = aps["timestamp"]?.integer,
        (now - HeaderRules.daySeconds...now + HeaderRules.daySeconds).contains(timestamp)
      else { return "aps.timestamp must be epoch seconds within a day of now" }
      return nil
    },
    rule("content-state is an object, there for start and update") { aps, _ in
      guard let state = aps["content-state"] else {
        return aps["event"] == .string("end") ? nil : "aps.content-state is missing"
      }
      return state.object == nil ? "aps.content-state must be an object" : nil
    },
    rule("start names its attributes") { aps, _ in
      let type = aps["attributes-type"]
      let attributes = aps["attributes"]
      guard aps["event"] == .string("start") else {
        return type == nil && attributes == nil ? nil : "attributes belong to start only"
      }
      guard let name = type?.string, !name.isEmpty else { return "start needs attributes-type" }
      return attributes?.object == nil ? "start needs an attributes object" : nil
    },
    rule("start has an alert") { aps, _ in
      aps["event"] == .string("start") && aps["alert"] == nil ? "start needs an alert" : nil
    },
    rule("alert has the Live Activity form") { aps, _ in
      guard let alert = aps["alert"] else { return nil }
      guard let texts = alert.object else { return "aps.alert must be an object" }
      return checkAlert(texts)
    },
    rule("stale-date and dismissal-date are in seconds") { aps, now in
      let last = now + HeaderRules.maximumStorageSeconds
      let wrong = ["stale-date", "dismissal-date"].first { key in
        aps[key].map { !(0...last).contains($0.integer ?? -1) } ?? false
      }
      return wrong.map { "aps.\($0) must be epoch seconds, an integer" }
    },
    rule("dismissal-date ends a card") { aps, _ in
      aps["dismissal-date"] != nil && aps["event"] != .string("end")
        ? "dismissal-date belongs to end only" : nil
    },
  ]

  private static func rule(
    _ name: String, _ check: @escaping @Sendable ([String: JSON], _ now: Int) -> String?
  ) -> Rule {
    Rule("liveactivity: " + name) { push in
      guard push.pushType == .liveactivity, let aps = push.aps else { return nil }
      return check(aps, push.context.now).map { Refusal(.invalidPushType, $0) }
    }
  }

  /// Checks an alert.
  ///
  /// Title and body are strings or `{"loc-key", "loc-args"}`; a flat `title-loc-key` is the form of
  /// ordinary alerts and is not accepted here.
  private static func checkAlert(_ alert: [String: JSON]) -> String? {
    for (key, value) in alert {
      switch key {
      case "title", "body":
        let text = value.string ?? value.object?["loc-key"]?.string ?? ""
        if text.isEmpty { return "aps.alert.\(key) is empty" }
      case "sound":
        if (value.string ?? "").isEmpty { return "aps.alert.sound must be a name" }
      default:
        return "aps.alert.\(key) is no key of a Live Activity alert"
      }
    }
    return alert["title"] == nil && alert["body"] == nil ? "aps.alert has no text" : nil
  }
}
