/// The custom keys of messages to Android phones.
package enum AndroidData {
  /// Returns whether FCM or RidePulse keeps a key of `data` to itself: FCM refuses the message, or
  /// the app would read another value.
  package static func isReserved(_ key: String) -> Bool {
    key.hasPrefix("rp_") || key.hasPrefix("google") || key.hasPrefix("gcm")
      || ["from", "message_type", "collapse_key"].contains(key)
  }
}

/// The notification channel of an alert on Android, if its rule names none.
///
/// A channel alone decides whether a phone sounds, and the person may change it.
package enum AndroidChannel: String, CaseIterable, Sendable {
  /// Only listed: passive alerts, and those without a sound.
  case quiet = "ride_quiet"
  case news = "ride_news"
  /// Shown on top of what is open: time-sensitive and critical alerts.
  case now = "ride_now"

  package init(_ alert: Alert) {
    switch alert.interruptionLevel {
    case _ where alert.sound == nil: self = .quiet
    case .passive: self = .quiet
    case .active, nil: self = .news
    case .timeSensitive, .critical: self = .now
    }
  }

  /// `notification_priority`, for phones without channels (before Android 8); nil for the usual.
  var importance: String? {
    switch self {
    case .quiet: "PRIORITY_LOW"
    case .news: nil
    case .now: "PRIORITY_HIGH"
    }
  }
}
