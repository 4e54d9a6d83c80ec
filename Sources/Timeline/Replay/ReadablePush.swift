package import Base
package import RideCore

/// What a person sees of a push, read from its payload as the phone reads it.
package struct ReadablePush: Hashable, Sendable {
  package var title: String?
  package var subtitle: String?
  package var body: String?
  /// The sound's name; nil if the push is silent.
  package var sound: String?
  /// `interruption-level`, such as `time-sensitive`.
  package var level: String?
  package var badge: Int64?
  /// What the push does to a card; nil if it is no card's.
  package var cardEvent: CardEvent?
  /// The fields of a card's content, by name; the app draws them.
  package var fields: [Field] = []
  /// When an ended card leaves the lock screen; nil if the system decides that.
  package var dismissedAt: Timestamp?
  /// What only a push to an Android phone has; nil for any other.
  package var android: Android?

  /// A field of a card and its value as text.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String
  }

  /// Reads a push; one without visible parts is empty.
  package init(_ push: PlannedPush) {
    cardEvent = push.entry.cardEvent
    let payload = JSONValue(json: push.payload)
    if push.entry.kind == .post {
      body = payload?.value(at: ["text"])?.string
      return
    }
    read(payload ?? .null, on: push.platform)
  }

  /// Reads what a push to a phone shows; a card's event is not among it.
  init(_ payload: JSONValue, on platform: Platform) { read(payload, on: platform) }

  private mutating func read(_ payload: JSONValue, on platform: Platform) {
    if platform == .android { return readMessage(payload) }
    guard let aps = payload.value(at: ["aps"]) else { return }
    read(alert: aps.value(at: ["alert"]))
    level = aps.value(at: ["interruption-level"])?.string
    if let sound = aps.value(at: ["sound"]) {
      self.sound = sound.string ?? sound.value(at: ["name"])?.string
    }
    if case .integer(let number)? = aps.value(at: ["badge"]) { badge = number }
    if case .object(let members)? = aps.value(at: ["content-state"]) {
      fields = members.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value.text) }
    }
    if case .integer(let seconds)? = aps.value(at: ["dismissal-date"]) {
      dismissedAt = Timestamp(epochSeconds: seconds)
    }
  }

  /// Whether it shows, sounds or changes anything on the screen; a push that does not only wakes the
  /// app.
  package var isSeen: Bool { isAlert || badge != nil || cardEvent != nil }

  /// Whether it alerts the person: a card's push does if it has an alert.
  package var isAlert: Bool { hasText || sound != nil }

  /// Whether it has something to read.
  var hasText: Bool { title != nil || body != nil || subtitle != nil }

  /// Whether an alert only joins the list, without lighting the screen.
  package var isPassive: Bool {
    level == Alert.InterruptionLevel.passive.rawValue
      || android?.channel == AndroidChannel.quiet.rawValue
  }

  private mutating func read(alert: JSONValue?) {
    if let text = alert?.string {
      body = text
      return
    }
    title = Self.text(alert, "title", key: "title-loc-key", arguments: "title-loc-args")
    subtitle = Self.text(alert, "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
    body = Self.text(alert, "body", key: "loc-key", arguments: "loc-args")
    // The alert of a card has its sound inside.
    sound = alert?.value(at: ["sound"])?.string
  }

  /// Returns one part of an alert.
  ///
  /// A text that the app holds is shown as its key with the arguments: only the app has its words. In
  /// a card's alert the key is an object in the place of the text.
  private static func text(
    _ alert: JSONValue?, _ name: String, key: String, arguments: String
  ) -> String? {
    let part = alert?.value(at: [name])
    if let text = part?.string { return text }
    let isCards = part != nil
    guard
      let key = isCards
        ? part?.value(at: ["loc-key"])?.string : alert?.value(at: [key])?.string
    else { return nil }
    let values = isCards ? part?.value(at: ["loc-args"]) : alert?.value(at: [arguments])
    guard case .array(let elements)? = values, !elements.isEmpty else { return key }
    return "\(key) (\(elements.map(\.text).joined(separator: ", ")))"
  }
}

extension JSONValue {
  /// The text, if it is one.
  var string: String? {
    if case .string(let text) = self { text } else { nil }
  }
}
