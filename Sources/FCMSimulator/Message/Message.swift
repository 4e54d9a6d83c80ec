import SimulatorKit

/// A message whose fields have the right types.
struct Message: Equatable {
  enum Target: Equatable {
    case registration(String, isFID: Bool)
    /// A topic or a condition.
    case audience
  }

  let target: Target
  let isOnlyValidated: Bool
  /// The message's own members, with names in snake case.
  let members: [String: JSON]
  /// The config for Android, in the form of today or of the preview.
  private let android: [String: JSON]
  /// The kinds of the preview that the message names.
  let kindsOfV2: [String]

  init(_ request: JSON) throws(Refusal) {
    let request = try MessageFields.request.read(request, at: "").object ?? [:]
    isOnlyValidated = request["validate_only"] == .bool(true)
    let members = request["message"]?.object ?? [:]
    self.members = members
    android = (members["android"] ?? members["android_v2"])?.object ?? [:]
    kindsOfV2 = [Self.remote, "background_sync"].filter { name in
      members["android_v2"]?.object?[name] != nil
    }
    target = try Self.target(of: members)
  }

  private static let remote = "remote_notification"

  private static func target(of members: [String: JSON]) throws(Refusal) -> Target {
    let named = ["fid", "token", "topic", "condition"].filter { members[$0] != nil }
    guard named.count < 2 else {
      throw .invalid(
        "Exactly one of the targets may be set: \(named.joined(separator: ", "))",
        field: "message")
    }
    guard let name = named.first, let text = members[name]?.string else {
      throw .invalid("Recipient of the message is not set.", field: "message")
    }
    switch name {
    case "fid": return .registration(text, isFID: true)
    case "token": return .registration(text, isFID: false)
    default: return .audience
    }
  }

  /// What the app on an Android phone gets: the platform's own data replace the common ones.
  var data: [String: String] {
    (android["data"] ?? members["data"])?.object?.compactMapValues(\.string) ?? [:]
  }

  /// What the system shows, with the texts of all platforms below those of Android.
  var notification: [String: JSON] {
    let own = hasV2 ? remoteNotification?["notification"] : android["notification"]
    return (members["notification"]?.object ?? [:]).merging(own?.object ?? [:]) { $1 }
  }

  /// Whether a person sees something of it, by the system or by the app.
  var showsSomething: Bool { !notification.isEmpty || data["rp_kind"] != "background" }

  /// What a phone gets.
  var delivered: [String: JSON] {
    var content: [String: JSON] = [:]
    if !data.isEmpty { content["data"] = .object(data.mapValues { .string($0) }) }
    if !notification.isEmpty { content["notification"] = .object(notification) }
    return content
  }

  /// What the preview shows, which is urgent by definition.
  var remoteNotification: [String: JSON]? { members["android_v2"]?.object?[Self.remote]?.object }
  var isHigh: Bool { remoteNotification != nil || android["priority"]?.string == "HIGH" }
  var hasPriority: Bool { hasV2 || android["priority"] != nil }
  var hasV2: Bool { members["android_v2"] != nil }
  var hasBothForms: Bool { hasV2 && members["android"] != nil }
  /// The field of the config, which errors name.
  var configField: String { hasV2 ? "message.android_v2" : "message.android" }
  var collapseKey: String? { android["collapse_key"]?.string }
  var packageName: String? { android["restricted_package_name"]?.string }
  /// Seconds; nil means 28 days.
  var ttl: Int? { android["ttl"]?.string.flatMap(FieldType.seconds) }

  /// Bytes of keys and values of what counts towards the limit.
  var countedBytes: Int {
    let texts = data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return notification.reduce(texts) { sum, member in
      let values = member.value.array ?? [member.value]
      return values.reduce(sum + member.key.utf8.count) { $0 + ($1.string?.utf8.count ?? 0) }
    }
  }
}
