/// A second set of rules, which decides a share of the rides in place of the first.
///
/// An object, because each decision passes its configuration around.
package final class RuleTrial: Sendable {
  package let rules: RuleSet
  /// The revision of these rules, for the ledger; nil if nothing is recorded.
  package let revision: Revision?
  package let share: RecordSample

  /// The name under which IDs are hashed, as `share('NAME')` hashes owners.
  package static let shareName = "ridepulse rules"

  package init(_ rules: RuleSet, revision: Revision? = nil, for share: RecordSample) {
    (self.rules, self.revision, self.share) = (rules, revision, share)
  }

  /// Returns whether it decides a ride: for the ride's whole life, while the share stays.
  package func decides(_ ride: RideID) -> Bool { share.contains(ride, hashedAs: Self.shareName) }
}

extension RuleSet {
  /// Returns rules with all that rides of both sets need: what is read for them, and when they are
  /// due again. It decides no ride.
  package func joined(with other: RuleSet, for share: RecordSample) -> RuleSet {
    // In this order, with the share: either change makes other rules decide some rides.
    let timings = [timingDigest, other.timingDigest]
    let isTimed = timings.contains { !$0.isEmpty }
    let text = "\(timings[0])\n\(share.text)\n\(timings[1])"
    return RuleSet(
      activeStates: activeStates.union(other.activeStates),
      finalStates: finalStates.union(other.finalStates), events: events.union(other.events),
      rules: rules + other.rules, defaults: defaults, attributes: attributes, digest: digest,
      timingDigest: isTimed ? PushID(of: text).description : "")
  }
}
