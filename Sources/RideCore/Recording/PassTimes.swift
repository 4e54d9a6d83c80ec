package import Base

/// When the pushes of a ride that is recorded or traced were sent and answered, in the engine's uptime.
package struct PassTimes: Hashable, Sendable {
  /// The time of the decision.
  package let decidedAt: Timestamp
  /// Why the ride is recorded; nil if it is only traced.
  package let sample: RecordSample?
  /// `RuleSet.digest` of the rules that decided it; nil if it is not traced.
  let rules: String?
  private let began: Duration
  private var sent: [Duration]
  private var answered: [Duration]

  /// - Parameter uptime: when the first pushes were submitted.
  package init(
    decidedAt: Timestamp, sample: RecordSample?, rules: String? = nil, pushes: Int,
    at uptime: Duration
  ) {
    self.decidedAt = decidedAt
    self.sample = sample
    self.rules = rules
    began = uptime
    sent = Array(repeating: uptime, count: pushes)
    answered = sent
  }

  /// Records that a push, which waited for another one, is submitted only now.
  package mutating func follow(_ push: Int, at uptime: Duration) {
    if sent.indices.contains(push) { sent[push] = uptime }
  }

  package mutating func answer(_ push: Int, at uptime: Duration) {
    if answered.indices.contains(push) { answered[push] = uptime }
  }

  /// Returns when a push was submitted.
  func sentAt(_ push: Int) -> Timestamp {
    decidedAt + (sent.indices.contains(push) ? max(.zero, sent[push] - began) : .zero)
  }

  /// Returns when the answer to a push came.
  package func answeredAt(_ push: Int) -> Timestamp {
    decidedAt + (answered.indices.contains(push) ? max(.zero, answered[push] - began) : .zero)
  }

  /// Returns how long the answer to a push took.
  package func took(_ push: Int) -> Duration {
    guard sent.indices.contains(push), answered.indices.contains(push) else { return .zero }
    return max(.zero, answered[push] - sent[push])
  }
}
