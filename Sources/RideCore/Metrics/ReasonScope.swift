/// Where a reason is counted before it occurs.
enum ReasonScope: Hashable {
  /// Pushes of every kind with these statuses.
  case pushes([LedgerEntry.Status])
  /// Pushes of the kinds that Android phones get, with these statuses.
  case androidPushes([LedgerEntry.Status])
  /// Events that rules emit, and those of escalations.
  case events
  case escalations
  /// Escalations that wait for a receipt.
  case receipts
  /// Entries without an app.
  case service
  /// None: no alert watches the reason, and there are too many of these.
  case none
}

extension LedgerReason.Code {
  /// Where the code is counted before it occurs; `none` for a status, of which there may be any.
  var scope: ReasonScope {
    switch self {
    case .service(let word):
      if let reason = APNsReason.table[word] { return .pushes(Self.statuses(reason)) }
      return .androidPushes(FCMReason.table[word].map(Self.statuses) ?? [])
    case .status: return .none
    case .engine(let engine): return engine.scope
    }
  }

  /// Returns the statuses of pushes that are refused for a reason.
  private static func statuses(_ reason: ServiceReason) -> [LedgerEntry.Status] {
    switch reason.rule?.push {
    case .rejected?: [.rejected]
    case .again?, .elsewhere?: ReasonScope.retried
    // The channel API's own.
    case nil: []
    }
  }
}

extension ReasonScope {
  /// The statuses of a push that goes again, and of one that then is no longer valid.
  static let retried: [LedgerEntry.Status] = [.pending, .expired, .uncertain]
}

extension LedgerReason.Engine {
  /// Without a default: each new reason has to be given its place.
  fileprivate var scope: ReasonScope {
    switch self {
    case .noAnswer, .connectionLost, .streamReset, .noConnection, .goAway, .refusedStream,
      .noFreeStream, .appPaused, .appUnreachable, .queuedBehind, .handedBack, .serviceStopped:
      .pushes(ReasonScope.retried)
    case .outOfTime: .pushes([.expired, .uncertain])
    case .serviceEnded: .pushes([.uncertain])
    case .superseded: .pushes([.uncertain, .superseded])
    case .noCredential, .noBundleID: .pushes([.rejected, .suppressed])
    case .invalidRequest: .pushes([.rejected])
    case .unlisted: .pushes([.rejected] + ReasonScope.retried)
    case .noServiceAccount: .androidPushes([.rejected, .suppressed])
    case .emitLimit: .events
    case .noReceipts: .escalations
    case .waiting, .quietHours: .pushes([.pending])
    case .waitingForReceipt: .receipts
    case .unknownEvent, .unknownState: .service
    // Recipients and their wishes.
    case .noPhone, .noOwner, .otherOwner, .phoneDisabled, .phoneQuarantined, .badToken,
      .alertsOff, .appleOnly, .optedOut, .overCap, .paused, .discarded,
      // Rides and rules.
      .rideNotFound, .rideOver, .rideInactive, .rideUnread, .leftStates, .conditionFalse,
      .conditionError, .ruleGone, .missingValue, .reservedKey, .notATime, .notANumber,
      .notACurrency, .unknownTimeZone, .memoFull, .settlementCheck, .unreadableFrame,
      // Times and events.
      .setTooLate, .nextWasDue, .missed, .capped, .seen, .emitted,
      // Cards and channels.
      .coveredByCard, .noStartToken, .cardThere, .cardGone, .cardTooOld, .cardPending, .cardType,
      .cardTooLarge, .cardFieldDropped, .overBudget, .noChannel, .ruleBroadcasts,
      // Posts.
      .noReceiver, .receiverGone:
      .none
    }
  }
}
