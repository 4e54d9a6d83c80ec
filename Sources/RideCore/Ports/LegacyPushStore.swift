package import Base

/// Commits pushes received over the legacy protocol and reports their outcomes.
///
/// Every call may fail while the database is unavailable.
package protocol LegacyPushStore: Sendable {
  /// Commits pushes that senders have sent, in one transaction.
  ///
  /// If the phone of a push is disabled or in quarantine, neither this push nor the sender's later
  /// ones of the same call are committed.
  ///
  /// - Returns: A result for each push, in the same order.
  func take(_ frames: [LegacyFrame]) async throws -> [LegacyCommitResult]

  /// Returns the verdicts on pushes so far, without those that have none yet.
  func verdicts(on pushes: [LegacyReceipt]) async throws -> [PushID: LegacyVerdict]

  /// Returns disabled phones of an app that were not reported yet, at most `limit`.
  func disabled(of app: App, limit: Int) async throws -> [DisabledPhone]

  /// Marks these phones as reported, until they are disabled again.
  func forget(_ phones: [DisabledPhone]) async throws
}

/// A push and its sender.
package struct LegacyFrame: Hashable, Sendable {
  /// Distinguishes the senders of one batch.
  package var sender: Int
  package var push: LegacyPush
  /// Identifies the push if it is committed again, by the caller of the store or by the sender.
  package var id: PushID

  package init(sender: Int, push: LegacyPush) {
    self.sender = sender
    self.push = push
    id = push.id ?? PushID(of: "frame", String(UInt128.random(in: .min ... .max)))
  }
}

/// The result of committing a push.
package enum LegacyCommitResult: Hashable, Sendable {
  /// It is committed, or was before.
  case taken(LegacyReceipt)
  /// Its phone is disabled or in quarantine; it is not committed.
  case refused
  /// An earlier push of the same sender was refused; it is not committed.
  case leftOut
}

/// Identifies a committed push in the ledger.
package struct LegacyReceipt: Hashable, Sendable {
  /// Its pseudo ride.
  package var ride: RideID
  /// Its `apns-id`.
  package var id: PushID
  /// Whether the same frame was committed before; it is not sent again then.
  package var isRepeat: Bool

  package init(ride: RideID, id: PushID, isRepeat: Bool) {
    self.ride = ride
    self.id = id
    self.isRepeat = isRepeat
  }
}

/// The outcome of a push that has ended, as far as the legacy protocol can report it.
package enum LegacyVerdict: Hashable, Sendable {
  /// Its token reaches no phone.
  case badToken
  /// Anything else, which the legacy protocol can't report.
  case other

  /// Creates a verdict from a row of the ledger; nil if the push has not ended.
  package init?(status: String, code: LedgerReason.Code?) {
    switch LedgerEntry.Status(rawValue: status) {
    case .pending, nil: return nil
    case .rejected, .suppressed: self = code.map(Self.isOfToken) == true ? .badToken : .other
    case .accepted, .expired, .uncertain, .superseded: self = .other
    }
  }

  private static func isOfToken(_ code: LedgerReason.Code) -> Bool {
    switch code {
    case .service(let reason): RefusalRule.of(reason).map { $0.token != .kept } ?? false
    case .engine(.phoneDisabled), .engine(.phoneQuarantined): true
    case .engine, .status: false
    }
  }
}

/// A phone that was disabled because APNs reports its token as gone.
package struct DisabledPhone: Hashable, Sendable {
  /// `Phone.id`.
  package var phone: Int64
  package var token: DeviceToken
  /// When it was disabled.
  package var since: Timestamp

  package init(phone: Int64, token: DeviceToken, since: Timestamp) {
    self.phone = phone
    self.token = token
    self.since = since
  }
}
