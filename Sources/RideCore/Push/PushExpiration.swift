package import Base

/// How long APNs may store a push for a phone that it cannot reach.
///
/// There is no third case: without the header Apple may store the push for 30 days, longer than any
/// event of a ride stays valid.
package enum PushExpiration: Hashable, Sendable {
  /// One attempt, never stored: `apns-expiration: 0`.
  case neverStore

  /// Stored until this time, in whole seconds; APNs may deliver a little later.
  case at(Timestamp)

  /// The header's value: UNIX seconds in UTC.
  package var epochSeconds: Int64 {
    switch self {
    case .neverStore: 0
    case .at(let instant): max(1, instant.epochSeconds)
    }
  }
}
