import RideCore

/// Tells a phone's wrong token from a wrong configuration, which makes APNs or FCM refuse every
/// phone's.
///
/// A wrong bundle ID, environment or service account must not put all phones of an app in quarantine. So refusals
/// count against phones only as long as a single phone is refused between two pushes that are
/// accepted.
struct TokenSuspicion: Equatable {
  /// The first phone that was refused since a push of the lane was last accepted.
  private var refused: Int64?
  /// Whether it has refused another phone since.
  private(set) var isOfConfiguration = false

  /// Records the outcome of a push to a phone.
  mutating func record(_ outcome: PushOutcome, of phone: Int64) {
    if outcome == .accepted {
      self = TokenSuspicion()
    } else if outcome.refusesToken {
      isOfConfiguration = isOfConfiguration || refused.map { $0 != phone } ?? false
      refused = refused ?? phone
    }
  }
}
