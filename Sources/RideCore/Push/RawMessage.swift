import Base

/// The message of a raw push to an Android phone: what FCM gets, as its sender states it.
///
/// RidePulse adds what it answers for: the phone, the urgency, how long it is stored, and the push's
/// ID, by which a phone drops a repeat.
struct RawMessage {
  /// The most bytes of a payload; FCM counts its keys and values, which `AndroidSize` does.
  static let payloadLimit = 15_000

  private let members: [String: JSONValue]

  /// - Parameter payload: an object; anything else has no members.
  init(_ payload: JSONValue?) {
    members = Self.object(payload) ?? [:]
  }

  /// What an Android phone shows of an alert.
  static let example = #"{"android": {"notification": {"title": "Hi"}}}"#

  private var android: [String: JSONValue] { Self.object(members["android"]) ?? [:] }

  /// The common notification, or that of Android, which takes its place field by field.
  private var isShown: Bool { members["notification"] != nil || android["notification"] != nil }

  private static func object(_ value: JSONValue?) -> [String: JSONValue]? {
    if case .object(let members)? = value { members.filter { $0.value != .null } } else { nil }
  }

  /// The tag that it states: a later notification with it replaces this one.
  var tag: String? {
    if case .string(let tag)? = Self.object(android["notification"])?["tag"] { tag } else { nil }
  }

  /// Returns the body of the request.
  ///
  /// - Parameters:
  ///   - tag: what a notification gets that states none.
  ///   - ttl: how long FCM may store it.
  func body(
    id: PushID, tag: String, to phone: FCMRegistration, isHighPriority: Bool, ttl: Duration
  ) -> [UInt8] {
    var message = members
    var android = android
    android["priority"] = .string(isHighPriority ? "HIGH" : "NORMAL")
    let seconds = min(max(0, ttl.components.seconds), AndroidMessage.longestTTL)
    android["ttl"] = .string("\(seconds)s")
    if isShown {
      var notification = Self.object(android["notification"]) ?? [:]
      notification["tag"] = notification["tag"] ?? .string(tag)
      android["notification"] = .object(notification)
    }
    // Android's own data take the place of the common ones.
    let idMember = [Self.idKey: JSONValue.string(id.description)]
    if let data = Self.object(android["data"]) {
      android["data"] = .object(data.merging(idMember) { $1 })
    } else {
      message["data"] = .object((Self.object(message["data"]) ?? [:]).merging(idMember) { $1 })
    }
    message["android"] = .object(android)
    message[phone.isFID ? "fid" : "token"] = .string(phone.text)
    return JSONValue.object(["message": .object(message)]).json
  }

  private static let idKey = "rp_id"
}

// What FCM would refuse, and what would not become what its sender means.
extension RawMessage {
  private static let known: Set<String> = [
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions",
  ]

  /// Returns the first problem, as it follows the word "payload"; nil if there is none.
  func problem(of type: PushType) -> String? {
    shapeProblem ?? dataProblem ?? contentProblem(of: type)
  }

  private var shapeProblem: String? {
    if members["aps"] != nil {
      return "has aps, which is for iPhones; an Android phone receives FCM's message, such as "
        + Self.example
    }
    if members["message"] != nil { return "has message; send what is inside it" }
    if let target = ["fid", "token", "topic", "condition"].first(where: { members[$0] != nil }) {
      return "has \(target); the push itself names the phone: leave it out"
    }
    if members["android_v2"] != nil || members["androidV2"] != nil {
      return "has android_v2, which is in preview; send android"
    }
    if let stray = members.keys.filter({ !Self.known.contains($0) }).min() {
      return
        "has \(stray.brief(bytes: 60)), which FCM's message lacks; own keys belong in data"
    }
    for path in [
      ["android"], ["data"], ["notification"], ["android", "data"], ["android", "notification"],
    ] {
      guard let value = JSONValue.object(members).value(at: path), value != .null else { continue }
      if Self.object(value) == nil {
        return "has \(path.joined(separator: ".")), which is not an object"
      }
    }
    if android["priority"] != nil {
      return "has android.priority; state the push's priority: 10 is HIGH, 5 and 1 are NORMAL"
    }
    return android["ttl"] == nil
      ? nil : "has android.ttl; state how long the push is valid by expires"
  }

  private var dataProblem: String? {
    let groups = [("data", members["data"]), ("android.data", android["data"])]
    for (path, value) in groups {
      for (key, value) in (Self.object(value) ?? [:]).sorted(by: { $0.key < $1.key }) {
        let name = "\(path).\(key.brief(bytes: 60))"
        // The app's own code may read the other keys of RidePulse.
        if AndroidData.isReserved(key), !key.hasPrefix("rp_") || key == Self.idKey {
          return "has \(name), which FCM or RidePulse keeps to itself: rename it"
        }
        guard case .string = value else {
          return "has \(name), which is not a text; FCM takes texts only, such as \"7\""
        }
      }
    }
    return nil
  }

  private func contentProblem(of type: PushType) -> String? {
    if type == .background {
      return isShown ? "has a notification; a background push has data only" : nil
    }
    let hasData = members["data"] != nil || android["data"] != nil
    return isShown || hasData
      ? nil : "has neither a notification nor data; send an object such as \(Self.example)"
  }
}
