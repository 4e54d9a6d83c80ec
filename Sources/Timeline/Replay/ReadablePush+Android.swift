package import Base
package import RideCore

// What a person sees of a push on an Android phone, read from its message as the app reads it.
extension ReadablePush {
  /// What only a push to an Android phone has.
  package struct Android: Hashable, Sendable {
    /// The notification channel; nil for a push without an alert.
    package var channel: String?
    package var drawing: AndroidStyle.Drawing?
    package var isHighPriority: Bool
    /// What a card shows without code of the app; null for other pushes.
    package var look: JSONValue
  }

  mutating func readMessage(_ payload: JSONValue) {
    let message = payload["message"]
    let data = message?["data"]
    let notification = message?.value(at: ["android", "notification"])
    var android = Android(
      isHighPriority: message?.value(at: ["android", "priority"])?.string == "HIGH", look: .null)
    if let notification {
      title = Self.text(notification, "title", arguments: notification["title_loc_args"])
      body = Self.text(notification, "body", arguments: notification["body_loc_args"])
      if notification["default_sound"] == .bool(true) { sound = "default" }
      if case .integer(let count)? = notification["notification_count"] { badge = count }
      android.channel = notification["channel_id"]?.string
      android.drawing = .system
    } else if data?["rp_kind"]?.string == "alert" || data?["rp_alert"] != nil {
      title = Self.text(data, "title")
      body = Self.text(data, "body")
      if data?["rp_sound"] != nil { sound = "default" }
      android.channel = data?["rp_channel"]?.string
      android.drawing = .app
    }
    if case .object(let members)? = Self.json(data?["rp_state"]) {
      fields = members.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value.text) }
    }
    android.look = Self.json(data?["rp_look"]) ?? .null
    if cardEvent == .end {
      dismissedAt = (data?["rp_gone_at"]?.string).flatMap(Int64.init)
        .map(Timestamp.init(epochSeconds:))
    }
    self.android = android
  }

  /// Returns one text of a notification that the system draws, or its key in the app.
  private static func text(
    _ notification: JSONValue, _ name: String, arguments: JSONValue?
  ) -> String? {
    notification[name]?.string ?? key(notification[name + "_loc_key"], arguments)
  }

  /// Returns one text of an alert that the app draws, or its key in the app.
  private static func text(_ data: JSONValue?, _ name: String) -> String? {
    data?["rp_" + name]?.string ?? key(data?["rp_\(name)_key"], json(data?["rp_\(name)_args"]))
  }

  private static func key(_ key: JSONValue?, _ arguments: JSONValue?) -> String? {
    guard let key = key?.string else { return nil }
    guard case .array(let elements)? = arguments, !elements.isEmpty else { return key }
    return "\(key) (\(elements.map(\.text).joined(separator: ", ")))"
  }

  /// Returns the JSON value in a text.
  private static func json(_ text: JSONValue?) -> JSONValue? {
    (text?.string).flatMap { JSONValue(json: $0.utf8) }
  }
}
