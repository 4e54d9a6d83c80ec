/// The kind of a push, as `apns-push-type` names it.
package enum PushType: String, Hashable, Sendable, Codable {
  /// Something to show.
  case alert

  /// A silent wake; Apple accepts it at priority 5 only.
  case background

  /// A start, update or end of a Live Activity.
  case liveactivity
}

/// How urgently APNs delivers.
package enum PushPriority: Int, Hashable, Sendable, Codable {
  /// At once.
  case immediate = 10

  /// When it suits the phone's battery; may be grouped or dropped.
  case powerAware = 5
}

/// Until when APNs may store a push for a phone that it can't reach.
///
/// There is no third case: without the header Apple may store for 30 days, and no event of a ride
/// is true for so long.
package enum PushExpiration: Hashable, Sendable {
  /// One attempt, never stored: `apns-expiration: 0`.
  case neverStore

  /// Stored until then, in whole seconds; APNs may deliver a little after.
  case at(Timestamp)

  /// The header's value: UNIX seconds in UTC.
  package var epochSeconds: Int64 {
    switch self {
    case .neverStore: 0
    case .at(let instant): max(1, instant.epochSeconds)
    }
  }
}

/// The `apns-` headers of one push.
package struct PushHeaders: Hashable, Sendable {
  /// `apns-id`: the same for every attempt of the same push, so that logs on both sides meet.
  package var id: PushID

  /// `apns-topic`: the app's bundle ID, with a suffix for some push types.
  package var topic: String

  /// `apns-push-type`.
  package var pushType: PushType

  /// `apns-priority`.
  package var priority: PushPriority

  /// `apns-expiration`, always stated.
  package var expiration: PushExpiration

  /// `apns-collapse-id`: pushes of one value replace each other on the screen.
  package var collapseID: CollapseID?

  /// Headers of one push.
  package init(
    id: PushID, topic: String, pushType: PushType, priority: PushPriority,
    expiration: PushExpiration, collapseID: CollapseID? = nil
  ) {
    self.id = id
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
  }

  /// Name and value of each header, in the order in which they are sent and shown.
  ///
  /// `authorization` is not among them: it belongs to the connection.
  package var fields: [(name: String, value: String)] {
    var fields = [
      (name: "apns-id", value: id.description),
      (name: "apns-topic", value: topic),
      (name: "apns-push-type", value: pushType.rawValue),
      (name: "apns-priority", value: String(priority.rawValue)),
      (name: "apns-expiration", value: String(expiration.epochSeconds)),
    ]
    if let collapseID { fields.append((name: "apns-collapse-id", value: collapseID.text)) }
    return fields
  }
}

/// A value of `apns-collapse-id`: 1 to 64 bytes of UTF-8 without control characters.
package struct CollapseID: Hashable, Sendable {
  /// The value as sent.
  package let text: String

  /// Nil where APNs would answer `BadCollapseId`: empty or over 64 bytes, or not fit for a
  /// header.
  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count) else { return nil }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
    // HTTP/2 forbids a space at either end of a header's value.
    guard text.utf8.first != 0x20, text.utf8.last != 0x20 else { return nil }
    self.text = text
  }
}
