import Base
package import RideCore

/// What APNs and FCM answer in a world: what they answered on a recorded day, otherwise what the last
/// change states; they accept everything else.
struct Answers: Sendable {
  struct Stated: Sendable {
    var outcome = PushOutcome.accepted
    /// Nil means for good.
    var until: Timestamp?
  }

  /// By the platform whose phones the service reaches.
  var stated: [Platform: Stated] = [:]
  var recorded: RecordedAnswers?

  func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome {
    if let recorded { return recorded.outcome(of: push.address.text, at: now) }
    guard let stated = stated[push.platform] else { return .accepted }
    if let until = stated.until, now >= until { return .accepted }
    return stated.outcome
  }
}

extension PlannedPush {
  /// The system of the phones that it is for.
  package var platform: Platform { network == .android ? .android : .ios }
}

extension Platform {
  /// Its name for people.
  package var title: String {
    switch self {
    case .ios: "iOS"
    case .android: "Android"
    }
  }
}
