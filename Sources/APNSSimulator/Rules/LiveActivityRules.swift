import SimulatorKit

/// Rules for pushes of type `liveactivity`: what ActivityKit drops or ignores.
enum LiveActivityRules {
  private static let events = ["start", "update", "end"]
  /// ActivityKit's limit for static and dynamic data together, whatever size APNs carries.
  private static let maximumDataBytes = 4096
  private static let longestLifeSeconds = 8 * 3600

  static let all: [Rule] = [
    rule("event is start, update or end") { aps, _ in
      events.contains(aps["event"]?.string ?? "")
        ? nil : "aps.event must be one of \(events.joined(separator: ", "))"
    },
    rule("timestamp is in seconds and of today") { aps, push in
      // A phone accepts an end of any age, and nothing beyond a card's longest life.
      let now = push.context.now
      let earliest = aps["event"] == .string("end") ? 0 : now - HeaderRules.daySeconds
      guard let timestamp = aps["timestamp"]?.whole,
        (earliest...now + longestLifeSeconds).contains(timestamp)
      else { return "aps.timestamp must be epoch seconds, at most a day ago and 8 hours ahead" }
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
    rule("no text of the alert is empty", of: .aps) { aps, _ in
      let empty = aps["alert"]?.object?.sorted { $0.key < $1.key }.first { $0.value == .string("") }
      return empty.map { "aps.alert.\($0.key) is empty" }
    },
    rule("only start has an input, a token or a channel that exists", checkInput),
    rule("stale-date and dismissal-date are in seconds") { aps, push in
      let last = push.context.now + HeaderRules.maximumStorageSeconds
      let wrong = ["stale-date", "dismissal-date"].first { key in
        aps[key].map { !(0...last).contains($0.whole ?? -1) } ?? false
      }
      return wrong.map { "aps.\($0) must be epoch seconds, an integer" }
    },
    rule("dismissal-date ends a card") { aps, _ in
      aps["dismissal-date"] != nil && aps["event"] != .string("end")
        ? "dismissal-date belongs to end only" : nil
    },
    // A sender that had no answer to its `end` renders it again.
    rule("the card has not ended") { aps, push in
      guard aps["event"] != .string("end"), let last = lastPush(before: push), last.isEnd
      else { return nil }
      return "the card ended with timestamp \(last.timestamp)"
    },
    rule("timestamp of an update is newer than the card's last") { aps, push in
      guard aps["event"] == .string("update"), let last = lastPush(before: push),
        let timestamp = aps["timestamp"]?.whole, timestamp <= last.timestamp
      else { return nil }
      return "aps.timestamp \(timestamp) is not newer than \(last.timestamp), the last one"
    },
  ]

  /// Only for broadcasts: APNs refuses a push to a device that is larger.
  static let dataSize = rule("attributes and content-state have at most 4 KB") { aps, push in
    // A payload that is small enough needs no measuring.
    guard push.request.bodyBytes > maximumDataBytes else { return nil }
    let bytes = ["attributes", "content-state"].map { aps[$0]?.serialized.count ?? 0 }
    let sum = bytes[0] + bytes[1]
    return sum > maximumDataBytes
      ? "attributes and content-state have \(sum) bytes, at most \(maximumDataBytes)" : nil
  }

  private static func rule(
    _ name: String, of part: Strictness = .payloads,
    _ check: @escaping @Sendable (_ aps: [String: JSON], Push) -> String?
  ) -> Rule {
    Rule("liveactivity: " + name, of: part) { push in
      guard push.pushType == .liveactivity, let aps = push.aps else { return nil }
      return check(aps, push).map { Refusal(.invalidPushType, $0) }
    }
  }

  /// Returns the last push to the card, unless this one repeats it: a repeat changes nothing.
  private static func lastPush(before push: Push) -> CardPush? {
    guard let last = push.context.lastCardPush, let next = CardPush(push),
      last.bodyHash != next.bodyHash
    else { return nil }
    return last
  }

  /// Checks an alert.
  ///
  /// Title and body are strings or `{"loc-key", "loc-args"}`; a flat `title-loc-key` is the form of
  /// ordinary alerts and is not accepted here.
  private static func checkAlert(_ alert: [String: JSON]) -> String? {
    for (key, value) in alert {
      switch key {
      case "title", "body":
        if value.string == nil, (value.object?["loc-key"]?.string ?? "").isEmpty {
          return "aps.alert.\(key) is neither a text nor has a loc-key"
        }
      case "sound":
        if value.string == nil { return "aps.alert.sound must be a name" }
      default:
        return "aps.alert.\(key) is not a key of a Live Activity alert"
      }
    }
    return alert["title"] == nil && alert["body"] == nil ? "aps.alert has no text" : nil
  }

  private static func checkInput(_ aps: [String: JSON], _ push: Push) -> String? {
    let inputs = ["input-push-channel", "input-push-token"].filter { aps[$0] != nil }
    guard let input = inputs.first else { return nil }
    if aps["event"] != .string("start") { return "aps.\(input) belongs to start only" }
    if inputs.count > 1 { return "a start has input-push-channel or input-push-token, not both" }
    guard let channel = aps["input-push-channel"]?.string,
      push.context.channels.policy(of: channel, app: push.bundleID) == nil
    else { return nil }
    return "\(push.bundleID) has no channel \(channel)"
  }
}

/// A push that a card or channel received: ActivityKit ignores what is not newer.
struct CardPush: Equatable, Sendable {
  let timestamp: Int
  /// True if no later push can reach the card; a channel outlives the cards that follow it.
  let isEnd: Bool
  let bodyHash: Int

  /// Returns nil for a push that is no update or end of a card, and for one without a timestamp.
  init?(_ push: Push) {
    guard push.pushType == .liveactivity, let aps = push.aps,
      let timestamp = aps["timestamp"]?.whole, let event = aps["event"]?.string,
      ["update", "end"].contains(event)
    else { return nil }
    self.timestamp = timestamp
    isEnd = event == "end" && !ChannelCall.owns(push.request.path)
    bodyHash = push.request.body.hashValue
  }

  /// The card or channel that a request addresses; the key for its last push.
  static func target(of request: Request) -> String {
    if ChannelCall.owns(request.path) {
      return "\(request.path) \(request.value("apns-channel-id") ?? "")"
    }
    return request.path.lowercased()
  }
}
