/// The `apns-` headers of one push.
package struct PushHeaders: Hashable, Sendable {
  /// `apns-id`: the same for every attempt of a push, so that logs on both sides can be matched.
  package var id: PushID

  /// `apns-topic`: the app's bundle ID, with a suffix for some push types.
  package var topic: String

  package var pushType: PushType

  package var priority: PushPriority

  /// `apns-expiration`, always present.
  package var expiration: PushExpiration

  /// `apns-collapse-id`: pushes with the same value replace each other on the screen.
  package var collapseID: CollapseID?

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
}

/// A value of `apns-collapse-id`: 1 to 64 bytes of UTF-8 without control characters.
package struct CollapseID: Hashable, Sendable {
  package let text: String

  /// Nil if APNs would refuse the text with `BadCollapseId` (empty or over 64 bytes), or if it is
  /// not a valid header value.
  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count) else { return nil }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
    // HTTP/2 forbids a space at either end of a header value.
    guard text.utf8.first != 0x20, text.utf8.last != 0x20 else { return nil }
    self.text = text
  }
}
