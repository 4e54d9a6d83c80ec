import Base

/// What the pushes of a card are sent to; it stays the same when the token changes.
package enum CardTarget: Hashable, Comparable, Sendable {
  /// One iPhone: the ID of a row of `ridepulse.live_activities`.
  case activity(Int64)
  /// All who watch a ride's channel: `RideChannel.id`.
  case channel(Int64)
  /// One Android phone: `Phone.id`. Its card is a notification that its app posts.
  case phone(Int64)
}

extension CardTarget {
  /// Whether it is the card of an Android phone.
  package var isPhone: Bool { if case .phone = self { true } else { false } }
}

extension CardTarget: StoredAsRaw, StoredKey {
  /// The text in a memo: `7`, `channel 7` or `phone 7`.
  package var rawValue: String {
    switch self {
    case .activity(let id): "\(id)"
    case .channel(let id): "channel \(id)"
    case .phone(let id): "phone \(id)"
    }
  }

  package init?(rawValue: String) {
    let words = rawValue.split(separator: " ", omittingEmptySubsequences: false)
    guard let id = words.last.flatMap({ Int64($0) }) else { return nil }
    switch words.count {
    case 1: self = .activity(id)
    case 2 where words[0] == "channel": self = .channel(id)
    case 2 where words[0] == "phone": self = .phone(id)
    default: return nil
    }
  }
}
