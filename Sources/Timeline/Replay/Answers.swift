import Base
import RideCore

/// What APNs answers in a world: what it answered on a recorded day, otherwise what the last change
/// states; it accepts everything else.
struct Answers: Sendable {
  struct Stated: Sendable {
    var outcome = PushOutcome.accepted
    /// Nil means for good.
    var until: Timestamp?
  }

  var stated = Stated()
  var recorded: RecordedAnswers?

  func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome {
    if let recorded { return recorded.outcome(of: push.address.text, at: now) }
    if let until = stated.until, now >= until { return .accepted }
    return stated.outcome
  }
}
