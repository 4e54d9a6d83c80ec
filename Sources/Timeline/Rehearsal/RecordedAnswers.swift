package import Base
package import RideCore

/// The answers of a recorded day, by token and time.
///
/// A set of rules may send other pushes than those that were recorded. So an answer holds for a time:
/// a push has the first answer to its token within ten seconds after it, otherwise the last one
/// within a minute before it, otherwise APNs accepts it.
package struct RecordedAnswers: Sendable {
  private struct Answer: Sendable {
    var sentAt: Timestamp
    var outcome: PushOutcome
  }

  private var answers: [String: [Answer]] = [:]
  /// The last answer to each token that accepted a push, until a fault follows it.
  private var accepted: [String: Timestamp] = [:]

  private static let after: Duration = .seconds(10)
  private static let before: Duration = .seconds(60)

  package init() {}

  /// Adds the next answer of the day. Only those around faults are kept: a day has few.
  package mutating func add(_ answer: RecordedAnswer, at instant: Timestamp) {
    let sentAt = instant - answer.after
    let outcome = answer.outcome
    let wasFault = answers[answer.token]?.last.map { $0.outcome != .accepted } ?? false
    if outcome == .accepted, !wasFault {
      accepted[answer.token] = sentAt
      return
    }
    if outcome != .accepted, let before = accepted.removeValue(forKey: answer.token) {
      answers[answer.token, default: []].append(Answer(sentAt: before, outcome: .accepted))
    }
    answers[answer.token, default: []].append(Answer(sentAt: sentAt, outcome: outcome))
  }

  /// Forgets what was kept only in case that a fault follows.
  package mutating func end() { accepted = [:] }

  func outcome(of token: String, at now: Timestamp) -> PushOutcome {
    guard let known = answers[token] else { return .accepted }
    if let next = known.first(where: { $0.sentAt >= now }), next.sentAt - now <= Self.after {
      return next.outcome
    }
    if let last = known.last(where: { $0.sentAt <= now }), now - last.sentAt <= Self.before {
      return last.outcome
    }
    return .accepted
  }
}

extension RecordedAnswer {
  fileprivate var outcome: PushOutcome {
    if status == 200 { return .accepted }
    guard status == 0 else {
      return .refused(Refusal(status: status, reason: reason, timestamp: timestamp))
    }
    switch LedgerReason.Code(word: reason ?? "") {
    case .engine(.noAnswer): return .unanswered(.timeout)
    case .engine(.connectionLost): return .unanswered(.connectionLost("as recorded"))
    case .engine(.streamReset): return .unanswered(.reset("as recorded"))
    case .engine(.goAway): return .unsent(.goAway(reason: nil))
    case .engine(.refusedStream): return .unsent(.refusedStream)
    case .engine(.noFreeStream): return .unsent(.queuedTooLong)
    case .engine(.serviceStopped): return .unsent(.closed)
    case .engine(.queuedBehind), .engine(.handedBack): return .unsent(.queuedBehind)
    default: return .unsent(.noConnection("as recorded"))
    }
  }
}
