import SimulatorKit

/// What FCM refuses in a message whose fields have the right types, in its order.
enum MessageRules {
  /// Seconds; also how long a message without `ttl` is stored.
  static let longestTTL = 2_419_200
  private static let largest = 4096

  static func check(_ message: Message, _ strictness: Strictness) throws(Refusal) {
    try checkAndroid(message, strictness)
    if strictness.contains(.payload),
      let key = message.data.keys.sorted().first(where: isReserved)
    {
      throw .invalid("Invalid data payload key: \(key)", field: "message.data")
    }
    let size = message.countedBytes
    if strictness.contains(.size), size > largest {
      throw .invalid("Message is too large. The maximum is 4K (\(largest) bytes).")
    }
    if message.target == .audience {
      throw .invalid("The simulator has no topics: a ride has registrations.", field: "message")
    }
  }

  private static func checkAndroid(
    _ message: Message, _ strictness: Strictness
  ) throws(Refusal) {
    if message.hasV2 { try checkV2(message, strictness) }
    let config = message.configField
    if let ttl = message.ttl, !(0...longestTTL).contains(ttl) {
      throw .invalid(
        "Invalid value: ttl must be from 0 to \(longestTTL) s", field: config + ".ttl")
    }
    if strictness.contains(.ttl), message.ttl == nil {
      throw .invalid(
        "No ttl: FCM would keep the message for 28 days (--lenient ttl allows it).",
        field: config + ".ttl")
    }
    if strictness.contains(.priority), !message.hasPriority {
      throw .invalid(
        "No priority: its default is not documented clearly (--lenient priority allows it).",
        field: config + ".priority")
    }
    try checkNotification(message)
  }

  private static func checkNotification(_ message: Message) throws(Refusal) {
    let field =
      message.configField + (message.hasV2 ? ".remote_notification" : "") + ".notification"
    if let light = message.notification["light_settings"]?.object {
      let missing = ["color", "light_on_duration", "light_off_duration"].first { light[$0] == nil }
      if let missing { throw .invalid("Missing \(missing)", field: field + ".light_settings") }
    }
    if let color = message.notification["color"]?.string, !isColor(color) {
      throw .invalid("Invalid color \(color), expected #rrggbb", field: field + ".color")
    }
  }

  /// What the preview of `android_v2` demands; no sender should depend on a preview.
  private static func checkV2(_ message: Message, _ strictness: Strictness) throws(Refusal) {
    let problem: String? =
      if message.hasBothForms {
        "Only one of android and android_v2 may be set."
      } else if message.kindsOfV2.count != 1 {
        "Exactly one of remote_notification and background_sync must be set."
      } else if let remote = message.remoteNotification, remote["notification"] == nil {
        "remote_notification must have a notification."
      } else if strictness.contains(.androidV2) {
        "android_v2 is in preview: send message.android (--lenient android-v2 allows it)."
      } else {
        nil
      }
    if let problem { throw .invalid(problem, field: "message.android_v2") }
  }

  /// The widest set of Google's pages.
  private static func isReserved(_ key: String) -> Bool {
    key == "from" || key == "message_type" || key.hasPrefix("google") || key.hasPrefix("gcm")
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#") && text.dropFirst().allSatisfy(\.isHexDigit)
  }
}
