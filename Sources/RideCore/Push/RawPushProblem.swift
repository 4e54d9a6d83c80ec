import Base

/// Why APNs or FCM would refuse a raw push: found before it is sent, and if possible before it is
/// committed.
package struct RawPushProblem: Hashable, Sendable {
  package enum Field: String, Hashable, Sendable {
    case payload, priority
    case pushType = "push_type"

    /// The option of `ridepulse push`.
    package var option: String { self == .pushType ? "--type" : "--" + rawValue }
  }

  /// The part of the push that is wrong.
  package var field: Field
  /// What is wrong, and what to do; it follows the name of the field.
  package var text: String

  private init(_ field: Field, _ text: String) {
    self.field = field
    self.text = text
  }

  /// Returns the first problem; nil if there is none.
  ///
  /// - Parameter priority: nil for the type's default.
  package static func of(
    _ type: PushType, priority: PushPriority?, payload: some Collection<UInt8>,
    to target: RawPush.Target
  ) -> RawPushProblem? {
    let isAndroid = target.platform == .android
    if isAndroid, type != .alert, type != .background {
      return RawPushProblem(
        .pushType, "is \(type.rawValue); an Android phone receives alert and background")
    }
    let limit = target.payloadLimit(type)
    if payload.count > limit {
      return RawPushProblem(
        .payload,
        "has \(payload.count) bytes; \(target.service) accepts \(limit) "
          + (target.isBroadcast ? "in a broadcast" : "for push type \(type.rawValue)"))
    }
    // Apple's page on broadcasts lists 1 as well, which it does not for other Live Activity pushes.
    if let priority, !target.isBroadcast, !type.rules.priorities.contains(priority) {
      let known = type.rules.priorities.map { "\($0.rawValue)" }.joined(separator: " or ")
      return RawPushProblem(
        .priority,
        "is \(priority.rawValue); \(isAndroid ? "RidePulse" : "APNs") accepts \(known) for push type "
          + type.rawValue)
    }
    let bytes = Array(payload)
    let value: JSONValue
    do throws(JSONParser.Fault) {
      value = try JSONParser.parse(bytes, allowsDuplicates: !isAndroid)
    } catch {
      return RawPushProblem(
        .payload, "can't be read at \(error.location(in: bytes)): \(error.what)")
    }
    guard case .object(let members) = value else {
      return RawPushProblem(
        .payload,
        "is not a JSON object; send an object such as "
          + (isAndroid ? RawMessage.example : "{\"aps\": {\"alert\": \"Hi\"}}"))
    }
    let problem =
      isAndroid
      ? RawMessage(value).problem(of: type)
      : fcm(type, members) ?? aps(type, members["aps"], target.isBroadcast)
    return problem.map { RawPushProblem(.payload, $0) }
  }

  /// Returns what is wrong with an alert for Android phones, of which an iPhone shows nothing.
  private static func fcm(_ type: PushType, _ members: [String: JSONValue]) -> String? {
    guard type == .alert, members["aps"] == nil else { return nil }
    for key in ["message", "android", "notification"] {
      guard case .object? = members[key] else { continue }
      return
        "has \(key) and no aps: it is for Android phones; an iPhone receives an object such as "
        + "{\"aps\": {\"alert\": \"Hi\"}}"
    }
    return nil
  }

  /// Returns what is wrong with the member `aps`, for the types for which Apple states what it must
  /// hold.
  private static func aps(_ type: PushType, _ aps: JSONValue?, _ isBroadcast: Bool) -> String? {
    let members: [String: JSONValue]? = if case .object(let members) = aps { members } else { nil }
    switch type {
    case .background:
      if members?["content-available"] != .integer(1) {
        return
          "lacks aps.content-available; a background push has {\"aps\": {\"content-available\": 1}}"
      }
      let stray = members?.keys.filter { $0 != "content-available" }.min()
      return stray.map {
        "has aps.\($0.brief(bytes: 60)); a background push has only content-available in aps, and "
          + "other keys next to aps"
      }
    case .widgets, .controls:
      return members?["content-changed"] == .bool(true)
        ? nil
        : "lacks aps.content-changed; a push of this type has {\"aps\": {\"content-changed\": true}}"
    case .liveactivity:
      let events = isBroadcast ? ["update", "end"] : ["start", "update", "end"]
      if case .string(let event) = members?["event"], events.contains(event) { return nil }
      return "lacks aps.event; it is \(events.joined(separator: ", ")) in a "
        + (isBroadcast ? "broadcast" : "push of type liveactivity")
    case .alert, .voip, .location, .complication, .fileprovider, .mdm, .pushtotalk: return nil
    }
  }
}
