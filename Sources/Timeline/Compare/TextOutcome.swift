import RideCore

/// How the text of an old sender's push compares with that of RidePulse's.
package enum TextOutcome: Hashable, Sendable {
  case same
  /// RidePulse's push has this text.
  case differs(from: String)
  case unknown(Cause)
  /// The log has no text.
  case notLogged

  /// Why a text is not known: the ledger keeps none.
  package enum Cause: String, CaseIterable, Sendable {
    case card
    case notRecorded = "not_recorded"
    case otherRules = "other_rules"
    case noRules = "no_rules"
    case uncertain
    case notReproduced = "not_reproduced"
    case beyondLimit = "beyond_limit"

    /// The cause in words.
    package var explanation: String {
      switch self {
      case .card: "a card shows it"
      case .notRecorded: "the ride was not recorded, see RIDEPULSE_RECORD"
      case .otherRules: "other rules than those in use decided it"
      case .noRules: "the rules can't be used here, see RIDEPULSE_SCHEDULES"
      case .uncertain: "whether it arrived is uncertain"
      case .notReproduced: "deciding the recorded ride again did not give it"
      case .beyondLimit: "its ride is beyond --text-rides"
      }
    }
  }
}

extension RecordedRide {
  /// Compares an old sender's text with that of RidePulse's push.
  ///
  /// - Parameter pushes: To each of the person's phones, which may have texts in several languages.
  package mutating func outcome(of old: String, _ pushes: [AcceptedPush]) -> TextOutcome {
    let texts = pushes.compactMap { take($0) }.compactMap { PushText(ReadablePush($0)) }
    if texts.contains(where: { $0.isSame(as: old) }) { return .same }
    return texts.first.map { .differs(from: $0.text) } ?? .unknown(.notReproduced)
  }
}
