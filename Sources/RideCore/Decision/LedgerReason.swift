import Base

/// Why a push ended as it did, or goes again.
///
/// The code carries the meaning: metrics count it, the database stores it next to the text, and other
/// code compares it. The text is for people, and nothing reads it.
package struct LedgerReason: Sendable {
  package let code: Code
  package let text: String
  /// The times in the text, for readers with a clock of their own; none of a reason that was stored.
  let times: [Timestamp]

  package init(_ code: Code, _ text: String) {
    self.code = code
    self.text = text
    times = []
  }

  /// Creates a reason with one of the engine's codes.
  ///
  /// - Parameter times: Those in the text, as `CivilTime.iso` writes them.
  init(_ code: Engine, _ text: String, times: Timestamp...) {
    self.code = .engine(code)
    self.text = text
    self.times = times
  }

  package enum Code: Hashable, Sendable {
    /// A reason that APNs or FCM gave, and that `ServiceReason` lists for pushes.
    case service(String)
    /// A status that was answered without a reason, or with one that no table lists.
    case status(Int)
    /// A reason of the engine.
    case engine(Engine)
  }

  /// The engine's own reasons. A raw value is the metrics' label and the database's code: stable.
  package enum Engine: String, Hashable, Sendable, CaseIterable {
    case outOfTime = "out_of_time"
    case superseded
    case coveredByCard = "covered_by_card"
    case noPhone = "no_phone"
    case noOwner = "no_owner"
    case otherOwner = "other_owner"
    case noStartToken = "no_start_token"
    case cardThere = "card_there"
    case phoneDisabled = "phone_disabled"
    case phoneQuarantined = "phone_quarantined"
    case memoFull = "memo_full"
    case noBundleID = "no_bundle_id"
    case noCredential = "no_credential"
    case rideNotFound = "ride_not_found"
    case leftStates = "left_states"
    case conditionFalse = "condition_false"
    case conditionError = "condition_error"
    case rideOver = "ride_over"
    case ruleGone = "rule_gone"
    case cardGone = "card_gone"
    case noConnection = "no_connection"
    case goAway = "goaway"
    case refusedStream = "refused_stream"
    case noFreeStream = "no_free_stream"
    case noAnswer = "no_answer"
    case connectionLost = "connection_lost"
    case streamReset = "stream_reset"
    case appPaused = "lane_paused"
    case appUnreachable = "lane_unreachable"
    case serviceStopped = "service_stopped"
    case serviceEnded = "service_ended"
    case queuedBehind = "queued_behind"
    case handedBack = "handed_back"
    case noChannel = "no_channel"
    case ruleBroadcasts = "rule_broadcasts"
    case setTooLate = "set_too_late"
    case nextWasDue = "next_was_due"
    case missed
    case capped
    case badToken = "bad_token"
    case cardTooOld = "card_too_old"
    case cardPending = "card_pending"
    case unreadableFrame = "unreadable_frame"
    case missingValue = "missing_value"
    case notATime = "not_a_time"
    case notANumber = "not_a_number"
    case notACurrency = "not_a_currency"
    case cardType = "card_type"
    case cardTooLarge = "card_too_large"
    case cardFieldDropped = "card_field_dropped"
    case unknownEvent = "unknown_event"
    case unknownState = "unknown_state"
    case unknownTimeZone = "unknown_time_zone"
    case overBudget = "over_budget"
    case rideInactive = "ride_silent"
    case rideUnread = "ride_unread"
    case invalidRequest = "invalid_request"
    case settlementCheck = "settlement_check"
    case waiting
    case waitingForReceipt = "waiting_for_receipt"
    case seen
    case noReceipts = "no_receipts"
    case emitted
    case emitLimit = "emit_limit"
    case optedOut = "opted_out"
    case quietHours = "quiet_hours"
    case paused, discarded
    case overCap = "over_cap"
    case noReceiver = "no_receiver"
    case receiverGone = "receiver_gone"
    case noServiceAccount = "no_service_account"
    case appleOnly = "apple_only"
    case reservedKey = "reserved_key"
    case alertsOff = "alerts_off"
    case unlisted = "other"

    /// Whether what is pending for this reason waits as its rule states.
    package var isWaitOfRule: Bool {
      [.waiting, .waitingForReceipt, .quietHours, .paused].contains(self)
    }
  }
}

extension LedgerReason.Code {
  /// The metrics' label and the database's code: few values, and none that names anybody.
  package var word: String {
    switch self {
    case .service(let reason): reason
    case .status(let status): "HTTP \(status)"
    case .engine(let engine): engine.rawValue
    }
  }

  /// Reads a code back; one of a later version is `other`.
  package init(word: String) {
    if let engine = LedgerReason.Engine(rawValue: word) {
      self = .engine(engine)
    } else if RefusalRule.of(word) != nil {
      self = .service(word)
    } else if word.hasPrefix("HTTP "), let status = Int(word.dropFirst(5)) {
      self = .status(status)
    } else {
      self = .engine(.unlisted)
    }
  }

  /// Whether the cause is a mistake in the service's configuration: bundle IDs, keys, certificates.
  ///
  /// `DeviceTokenNotForTopic` may also be the mistake of a single registration.
  package var isOfConfiguration: Bool {
    switch self {
    case .service(let reason): ServiceReason[reason]?.cause.isOfConfiguration ?? false
    case .status: false
    case .engine(let engine): [.noBundleID, .noCredential, .noServiceAccount].contains(engine)
    }
  }

  /// What the reason means and how to resolve it; nil if no table explains it.
  package var explanation: ReasonExplanation? {
    switch self {
    case .service(let reason): ServiceReason[reason]?.explanation
    case .status: nil
    case .engine(.noBundleID): .noBundleID
    case .engine(.noCredential): .noCredential
    case .engine(.noServiceAccount): .noServiceAccount
    case .engine: nil
    }
  }

  /// APNs' verdict on a phone's token in one environment.
  static let badDeviceToken = Self.service("BadDeviceToken")

  /// A client certificate that APNs refuses, by an answer or in the TLS handshake.
  static let badCertificate = Self.service("BadCertificate")
}

extension LedgerReason {
  static let coveredByCard = LedgerReason(.coveredByCard, "covered by the card")
  static let skippedForCard = LedgerReason(.cardThere, "the phone shows a card of the ride")
  static let rideNotFound = LedgerReason(.rideNotFound, "ride not found")
  static let rideUnread = LedgerReason(
    .rideUnread, "the ride's row changed and can't be read")
  package static let leftStates = LedgerReason(.leftStates, "the ride left the states of the rule")

  package static func leftStates(_ state: String?) -> LedgerReason {
    LedgerReason(
      .leftStates, "the ride is \(state?.brief(bytes: 80) ?? "in no state"), not in while")
  }

  static func noPhone(of app: App) -> LedgerReason {
    LedgerReason(.noPhone, "no phone of the \(app)")
  }

  static func noStartToken(of app: App) -> LedgerReason {
    LedgerReason(.noStartToken, "no push-to-start token of the \(app)")
  }
  static let ruleGone = LedgerReason(.ruleGone, "the rule is gone")
  static let phoneDisabled = LedgerReason(.phoneDisabled, "the phone is disabled")
  static let badDeviceToken = LedgerReason(.badDeviceToken, "BadDeviceToken")

  /// What a phone's pushes wait for after its service was asked too often.
  static func throttled(on platform: Platform) -> LedgerReason {
    let word = platform == .android ? "DEVICE_QUOTA_EXCEEDED" : "TooManyRequests"
    return LedgerReason(.service(word), word)
  }

  static func noReceipts(of app: App) -> LedgerReason {
    LedgerReason(
      .noReceipts,
      "no phone of the \(app) has reported a receipt in time for an escalation: let the app call seen for each push that "
        + "it displays")
  }

  static func emitted(_ event: String) -> LedgerReason {
    LedgerReason(.emitted, "emitted \(event)")
  }

  static func superseded(by what: String) -> LedgerReason {
    LedgerReason(.superseded, "superseded by \(what)")
  }

  static func noOwner(of app: App) -> LedgerReason {
    LedgerReason(.noOwner, "the ride has no \(app)")
  }

  static func namesNoOwner(of app: App) -> LedgerReason {
    LedgerReason(.noOwner, "the event names no \(app)")
  }

  static func noLongerParticipates(_ app: App) -> LedgerReason {
    LedgerReason(.otherOwner, "the person is no \(app) of the ride any more")
  }

  static func otherOwner(of app: App) -> LedgerReason {
    LedgerReason(.otherOwner, "the ride has another \(app) now")
  }

  /// A refusal by APNs or FCM. The text may come from outside: it is cut short, and holds no NUL, which
  /// Postgres refuses together with the whole settlement.
  init(_ refusal: Refusal) {
    if refusal.isByReceiver {
      self.init(receiver: refusal.status)
      return
    }
    guard let reason = refusal.reason else {
      self.init(.status(refusal.status), "HTTP \(refusal.status)")
      return
    }
    let isListed = RefusalRule.of(reason) != nil
    let text = refusal.detail.map { "\(reason): \($0)" } ?? reason
    self.init(isListed ? .service(reason) : .engine(.unlisted), text.brief(bytes: 300))
  }

  init(_ cause: UnsentCause, over network: PushNetwork = .production) {
    let service = network.service
    switch cause {
    case .noConnection(let text):
      self.init(.noConnection, "no connection: \(text)".brief(bytes: 300))
    case .certificateRefused(let text):
      self.init(.badCertificate, "BadCertificate in the TLS handshake: \(text)".brief(bytes: 300))
    case .goAway(let reason):
      self.init(.goAway, "GOAWAY \(reason ?? "without a reason")".brief(bytes: 300))
    case .refusedStream: self.init(.refusedStream, "REFUSED_STREAM")
    case .turnedAway(let refusal): self.init(refusal)
    case .queuedTooLong: self.init(.noFreeStream, "no free stream in time")
    case .closed: self.init(.serviceStopped, "the service stopped")
    case .queuedBehind: self.init(.queuedBehind, "an earlier push to the phone goes first")
    case .paused(_, .refused):
      self.init(.appPaused, "the app's pushes are paused: \(service) refuses them")
    case .paused(_, .unreachable):
      self.init(.appUnreachable, "the app's pushes are paused: \(service) can't be reached")
    case .outdated, .handedBack(.recipientChanged):
      self.init(.handedBack, "the phone has changed since the push was decided")
    case .handedBack(.recipientUnread):
      self.init(.handedBack, "the phone could not be read again before the push was sent")
    case .handedBack(.noRoute):
      self.init(.handedBack, "left to another node: this one has no connection to \(service)")
    case .invalid(let text): self.init(.invalidRequest, text.brief(bytes: 300))
    case .noCredential(let text):
      self.init(
        network == .android ? .noServiceAccount : .noCredential, text.brief(bytes: 300))
    case .receiverOff(let text): self.init(.receiverGone, text.brief(bytes: 300))
    }
  }

  init(_ cause: UnansweredCause) {
    switch cause {
    case .timeout: self.init(.noAnswer, "no answer in time")
    case .connectionLost(let text):
      self.init(.connectionLost, "connection lost: \(text)".brief(bytes: 300))
    case .reset(let code): self.init(.streamReset, "stream reset: \(code)")
    }
  }
}
