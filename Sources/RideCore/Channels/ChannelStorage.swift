/// What APNs stores of a channel's messages for offline phones: its `message-storage-policy`.
package enum ChannelStorage: String, CaseIterable, Hashable, Sendable {
  /// Nothing, which allows a higher publishing rate.
  case nothing = "none"

  /// The latest message, for up to eight hours.
  case latest

  /// The longest time that APNs keeps a message.
  package static let longest: Duration = .seconds(8 * 3600)

  /// The number for it in Apple's JSON.
  package var policy: Int { self == .nothing ? 0 : 1 }

  /// Nil if Apple defines no policy with this number.
  package init?(policy: Int64) {
    switch policy {
    case 0: self = .nothing
    case 1: self = .latest
    default: return nil
    }
  }
}
