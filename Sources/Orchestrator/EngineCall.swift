package import RideCore

/// A call to the database without which rides are not sent.
package enum EngineCall: CaseIterable, Sendable {
  case claim
  /// The claim of rides whose last claim ended with its node.
  case claimLost
  case permits
  case journal

  /// The calls as the subject of a sentence.
  package var plural: String {
    switch self {
    case .claim: "claims"
    case .claimLost: "claims of lost rides"
    case .permits: "permits of pushes"
    case .journal: "journals of pushes"
    }
  }

  /// What does not happen while the calls fail.
  package var consequence: String {
    switch self {
    case .claim: "no ride is claimed or sent"
    case .claimLost: "rides whose last claim ended with its node are not sent"
    case .permits: "rides with a limit or a shared push are not sent"
    case .journal: "rides with a push that must not repeat are not sent"
    }
  }
}

/// Calls that have failed without interruption.
package struct CallFailure: Sendable {
  package var call: EngineCall
  /// How long they have failed.
  package var duration: Duration
  package var failure: StoreFailure

  package init(_ call: EngineCall, lasting duration: Duration, _ failure: StoreFailure) {
    (self.call, self.duration, self.failure) = (call, duration, failure)
  }
}
