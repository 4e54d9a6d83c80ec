/// Where the pushes of old senders are committed, and what became of them is read.
///
/// Every call may fail while the database is away.
package protocol LegacyPushStore: Sendable {
  /// Commits what senders have sent, in one transaction.
  ///
  /// Of a sender whose phone is disabled or set aside, nothing from that push on is taken.
  ///
  /// - Returns: For each push what became of it, in their order.
  func take(_ frames: [LegacyFrame]) async throws -> [LegacyCommitResult]

  /// What became of pushes so far; those without a verdict are left out.
  func verdicts(on pushes: [LegacyReceipt]) async throws -> [PushID: LegacyVerdict]

  /// Phones of an app that were disabled and not told of yet, at most so many.
  func disabled(of app: App, limit: Int) async throws -> [DisabledPhone]

  /// Tells of these phones no more, until they are disabled again.
  func forget(_ phones: [DisabledPhone]) async throws
}

/// A push and its sender.
package struct LegacyFrame: Hashable, Sendable {
  /// Tells the senders of one batch apart.
  package var sender: Int
  /// The push.
  package var push: LegacyPush
  /// By what it is known when it is given again: by the desk's caller, or by the sender.
  package var id: PushID

  /// A push and its sender.
  package init(sender: Int, push: LegacyPush) {
    self.sender = sender
    self.push = push
    id = push.id ?? PushID(of: "frame", String(UInt128.random(in: .min ... .max)))
  }
}

/// What became of a push that was to be committed.
package enum LegacyCommitResult: Hashable, Sendable {
  /// It is committed, or was before.
  case taken(LegacyReceipt)
  /// Its phone is disabled or set aside; it is not committed.
  case refused
  /// One of the same sender before it was refused; it is not committed.
  case leftOut
}

/// By what a committed push is found in the ledger.
package struct LegacyReceipt: Hashable, Sendable {
  /// Its pseudo ride.
  package var ride: RideID
  /// Its `apns-id`.
  package var id: PushID
  /// The same frame had been committed before; it is not sent again.
  package var isRepeat: Bool

  /// By what a committed push is found in the ledger.
  package init(ride: RideID, id: PushID, isRepeat: Bool) {
    self.ride = ride
    self.id = id
    self.isRepeat = isRepeat
  }
}

/// What the ledger says of a push that has ended.
package enum LegacyVerdict: Hashable, Sendable {
  /// Its token reaches no phone.
  case badToken
  /// Anything else, of which the old protocol has nothing to say.
  case other

  /// What a row of the ledger says; nil for a push that goes on.
  package init?(status: String, code: LedgerReason.Code?) {
    switch LedgerEntry.Status(rawValue: status) {
    case .pending, nil: return nil
    case .rejected, .suppressed: self = code.map(Self.isOfToken) == true ? .badToken : .other
    case .accepted, .expired, .uncertain, .superseded: self = .other
    }
  }

  private static func isOfToken(_ code: LedgerReason.Code) -> Bool {
    switch code {
    case .apns(let reason): RefusalRule.table[reason].map { $0.token != .kept } ?? false
    case .engine(.phoneDisabled), .engine(.phoneQuarantined): true
    case .engine, .status: false
    }
  }
}

/// A phone that APNs no longer knows.
package struct DisabledPhone: Hashable, Sendable {
  /// `Phone.id`.
  package var phone: Int64
  /// Its token.
  package var token: DeviceToken
  /// When it was disabled.
  package var since: Timestamp

  /// A phone that APNs no longer knows.
  package init(phone: Int64, token: DeviceToken, since: Timestamp) {
    self.phone = phone
    self.token = token
    self.since = since
  }
}
