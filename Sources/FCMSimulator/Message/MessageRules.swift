import SimulatorKit

/// What FCM refuses in a message whose fields have the right types, in its order.
enum MessageRules {
  private static let longestTTL = 2_419_200
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
    if message.hasV2 {
      throw .invalid(
        "The simulator does not know android_v2, which is in preview: send message.android.",
        field: "message.android_v2")
    }
    if let ttl = message.ttl, !(0...longestTTL).contains(ttl) {
      throw .invalid(
        "Invalid value: ttl must be from 0 to \(longestTTL) s", field: "message.android.ttl")
    }
    if strictness.contains(.ttl), message.ttl == nil {
      throw .invalid(
        "No ttl: FCM would keep the message for 28 days (--lenient ttl allows it).",
        field: "message.android.ttl")
    }
    if strictness.contains(.priority), !message.hasPriority {
      throw .invalid(
        "No priority: its default is not documented clearly (--lenient priority allows it).",
        field: "message.android.priority")
    }
    if let light = message.notification["light_settings"]?.object {
      let missing = ["color", "light_on_duration", "light_off_duration"].first { light[$0] == nil }
      if let missing {
        throw .invalid(
          "Missing \(missing)", field: "message.android.notification.light_settings")
      }
    }
    if let color = message.notification["color"]?.string, !isColor(color) {
      throw .invalid(
        "Invalid color \(color), expected #rrggbb", field: "message.android.notification.color")
    }
  }

  /// The widest set of Google's pages.
  private static func isReserved(_ key: String) -> Bool {
    key == "from" || key == "message_type" || key.hasPrefix("google") || key.hasPrefix("gcm")
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#") && text.dropFirst().allSatisfy(\.isHexDigit)
  }
}
