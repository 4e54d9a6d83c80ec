package import Base

/// What a test expects on the screen of one of its phones.
package struct ExpectedScreen: Hashable, Sendable {
  package var location: SourceLocation
  package var at: Timestamp
  /// The phone's name under `given`.
  package var phone: String
  /// All notifications, the newest first: each by its title, its body, or the whole text.
  package var notifications: [String]?
  package var card: Card?
  package var badge: Int?
  /// How many pushes did so since the start.
  package var counts: [Attention: Int] = [:]

  /// The newest card.
  package enum Card: Hashable, Sendable {
    case absent
    /// These fields, and further ones; nil for `isStale` if that is not compared.
    case fields([String: JSONValue], isStale: Bool?)
  }

  package init(location: SourceLocation, at: Timestamp, phone: String) {
    self.location = location
    self.at = at
    self.phone = phone
  }
}
