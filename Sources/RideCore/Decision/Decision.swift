/// The result of `decide`: what to send for one ride now, and what to record.
package struct Decision: Sendable {
  /// The view that the decision is based on.
  package var view: RideView
  /// `Revision.id` of the configuration that it was made with.
  package var revision: Int32?
  /// The pushes to send, in order.
  package var pushes: [PlannedPush] = []
  /// Pushes that this decision ends without sending them, each with its reason.
  package var closed: [LedgerEntry] = []
  /// Alerts that a card shows in their place, unless the card can't be reached.
  package var held: [HeldAlert] = []
  /// Pushes of earlier decisions that still wait.
  package var waiting: [PendingPush] = []
  /// Pushes that this decision postponed without trying them.
  package var postponed: [PendingPush] = []
  /// Events that rules emit, in order.
  package var emits: [EmittedEvent] = []
  /// How far each schedule rule has progressed, by rule name.
  package var slots: [String: SlotMemo] = [:]
  /// The outcomes of slots that were due, by rule name.
  package var tallies: [String: SlotTally] = [:]
  /// What is kept of each rule's `if`, by rule name.
  package var conditions: [String: ConditionMemo] = [:]
  /// What rules remembered when they fired, by `RuleFiring.key`.
  var fired: [String: String] = [:]
  /// The events that the ride's rules emitted lately, those of this decision included.
  var emitTally: EmitTally?
  /// How often a rule's `if` was false at a change of the ride, which has no row in the ledger.
  package var falseConditions: [String: Int] = [:]
  /// How often the ride changed outside of a rule's `while`, which has no row in the ledger either.
  package var outsideStates: [String: Int] = [:]
  /// The next slot at which a rule may fire.
  package var nextSlot: Timestamp?
  /// The state of the ride's cards.
  package var cards: [CardTarget: CardMemo] = [:]
  /// Card starts by push, by `StartToken.id`.
  package var starts: [Int64: StartMemo] = [:]
  /// When a card that is sent nothing now needs attention again.
  package var nextCard: Timestamp?
  /// Tokens to invalidate, whatever the outcomes of the pushes.
  package var invalidations: [TokenInvalidation] = []
  /// Broadcast channels that the ride needs.
  package var needs: [ChannelNeed] = []
  /// Permits that postponed pushes need.
  package var permitRequests: [PermitChanges.Request] = []
  /// The permits that count planned pushes, by the push.
  var permits: [PushID: Permit] = [:]
  /// Whether the ride's state is one of the active ones.
  package var isActive = false
  /// The events that the settlement consumes.
  package var consumed: [EventKey] = []
  /// The rest of this pass, if it has too many pushes for one decision.
  package var part: OpenPart?

  /// Pushes that are not sent as long as cards can be reached, each with its reason.
  package var unsent: [LedgerEntry] { closed + held.map(\.entry) }

  /// Returns the memo that must be written before anything is sent; nil if none must be.
  ///
  /// A start or a call must not be sent twice, so the engine records it first. A card's timestamps must rise:
  /// the clock ensures that by itself, unless it was set back.
  package func journal(now: Timestamp) -> Memo? {
    var memo = view.memo
    for push in pushes {
      if let id = push.entry.startToken {
        memo.starts[id] = openStart(id)
        // The next holder that finds it open closes it as uncertain and does not retry it.
        memo.retries.removeAll { $0.entry.startToken == id }
      } else if push.mustNotRepeat {
        memo.unrepeatable.append(push.entry.id)
      } else if let step = push.step, step.timestamp > now.epochSeconds {
        memo.cards[step.card]?.timestamp = step.timestamp
      }
    }
    return memo == view.memo ? nil : memo
  }

  private func openStart(_ start: Int64) -> StartMemo? {
    var memo = starts[start]
    memo?.isOpen = true
    return memo
  }
}

/// One push that a decision plans to send.
package struct PlannedPush: Hashable, Sendable {
  /// The push's ledger entry.
  package var entry: LedgerEntry
  /// The APNs environment that the token belongs to.
  package var environment: APNsEnvironment
  /// The device token or channel that it is sent to.
  package var address: PushAddress
  /// The `apns-` headers.
  package var headers: PushHeaders
  /// The JSON body.
  package var payload: [UInt8]
  /// The time from which it is no longer sent.
  package var validUntil: Timestamp
  /// Whether it tries its phone's token in the other environment.
  var isProbe = false
  /// Whether it may go again in the other environment if APNs answers `BadDeviceToken`.
  var mayProbe = false
  /// Whether its sender states another environment than its phone's, where the phone's token may be
  /// called bad rightly.
  var isToOtherEnvironment = false
  /// Whether APNs called its phone's token bad the last time.
  var isToRefusedPhone = false
  /// Whether it is a raw push whose repetition its recipient would notice.
  var mustNotRepeat = false
  /// The ledger's reason if APNs accepts the push.
  var acceptedReason: LedgerReason?
  /// The row that its text shows, if the ride names another person by now.
  var image: RideImage?
  /// The card step, boxed: few pushes have one, and all others are half as large.
  private var boxedStep: StepBox?

  private indirect enum StepBox: Hashable, Sendable {
    case step(CardStep)
  }

  init(
    entry: LedgerEntry, environment: APNsEnvironment, address: PushAddress,
    headers: PushHeaders, payload: [UInt8], validUntil: Timestamp, step: CardStep? = nil,
    acceptedReason: LedgerReason? = nil
  ) {
    self.entry = entry
    self.environment = environment
    self.address = address
    self.headers = headers
    self.payload = payload
    self.validUntil = validUntil
    self.acceptedReason = acceptedReason
    boxedStep = step.map { .step($0) }
  }

  package var lane: PushLane { PushLane(environment: environment, app: entry.app) }

  package var tokenOwner: TokenOwner {
    if let phone = entry.phone, !isToOtherEnvironment { return .phone(phone) }
    return entry.recipient == .rawAddress ? .unknown : .card
  }

  /// What it does to a live card; nil if it is not sent to one.
  var step: CardStep? {
    if case .step(let step) = boxedStep { step } else { nil }
  }

  /// Returns the push as a request to the transport, under a ticket.
  package func request(ticket: UInt64) -> PushRequest {
    var request = PushRequest(
      ticket: ticket, environment: environment, address: address, headers: headers, payload: payload
    )
    request.lane = entry.app.rawValue
    request.validUntil = validUntil
    return request
  }
}

/// What a refusal of a push's token is recorded for.
package enum TokenOwner: Hashable, Sendable {
  /// A phone: `Phone.id`. It is in quarantine after some refusals.
  case phone(Int64)
  /// A card, or a phone on which one can be started.
  case card
  /// Nothing: a raw push to a token that no phone has in this environment. The next push to it is
  /// sent, and refused, too.
  case unknown
}

extension PlannedPush {
  /// Creates a push to a phone, taking into account what APNs reported about the phone.
  init(
    _ entry: LedgerEntry, _ headers: PushHeaders, _ payload: [UInt8], to phone: Phone,
    token: DeviceToken, validUntil: Timestamp, by configuration: EngineConfiguration
  ) {
    var entry = entry
    entry.record(headers)
    self.init(
      entry: entry, environment: phone.environment(of: entry, configuration),
      address: .device(token),
      headers: headers, payload: payload, validUntil: validUntil)
    isProbe = phone.isProbed(by: entry)
    mayProbe = !isProbe && phone.mayBeProbed(configuration)
    isToRefusedPhone = (phone.problem?.refusals ?? 0) > 0
  }
}

/// One row of `ridepulse.ledger`.
package struct LedgerEntry: Hashable, Sendable {
  /// The outcome of a push, as in `deliveries.status`.
  package enum Status: String, StoredAsRaw, Hashable, Sendable, CaseIterable {
    /// It waits for its first or next attempt.
    case pending
    /// APNs accepted it.
    case accepted
    /// APNs, or a check before the network, refused it for good.
    case rejected
    /// Its validity ended before it could be delivered.
    case expired
    /// It left, or may have left, and is not sent again; its outcome is unknown.
    case uncertain
    /// A rule fired, and nothing was sent, for the reason given.
    case suppressed
    /// A later push to the same phone with the same collapse ID replaced it before it was sent.
    case superseded
  }

  /// The push's ID: the same in every attempt.
  package var id: PushID
  /// The event or slot that it is about.
  package var event: RideEvent
  /// The rule's name.
  package var rule: String
  package var app: App
  package var pushType: PushType
  package var status: Status
  /// Why it has this status: Apple's reason string, if Apple gave one.
  package var reason: LedgerReason?
  /// How often it was handed to the transport.
  package var attempts: Int
  /// `apns-collapse-id`.
  package var collapseID: String?
  /// `Phone.id`; nil if there is no phone.
  package var phone: Int64?
  /// The token's last six digits.
  package var tokenSuffix: String?
  /// `apns-priority`; nil if nothing was sent.
  package var priority: PushPriority?
  /// `apns-expiration`.
  package var expiration: Int64?
  /// What it does to a card.
  package var cardEvent: CardEvent?
  /// The card, of a push to a live one.
  package var card: CardTarget?
  /// `StartToken.id`, of a push that starts a card; such a push must not be sent twice.
  package var startToken: Int64?
  /// Why it may have arrived although no answer confirms it.
  package var doubt: Doubt?
  /// The owner of its phone; nil in memos of earlier versions.
  package var owner: OwnerID?
  /// True if the owner received it as a participant of the ride; nil otherwise.
  package var isOfParticipant: Bool?
  /// `apns-unique-id` of the last answer, by which Apple's console finds the push; nil without one.
  package var uniqueID: String?
}

extension LedgerEntry {
  /// The reason why a push may have arrived although no answer confirms it.
  package enum Doubt: String, StoredAsRaw, Hashable, Sendable {
    /// It was sent, and no answer arrived.
    case unanswered = "an earlier attempt was not answered"
    /// The lease of the ride's previous holder ended before it settled the ride.
    case takenOver = "the node that held the ride ended, and may have sent it"
  }

  /// Ends an entry that was not sent; one that may have arrived becomes `uncertain` instead.
  mutating func end(_ status: Status, _ reason: LedgerReason) {
    self.status = status
    self.reason = reason
    let isUnsent = status == .expired || status == .suppressed || status == .superseded
    guard let doubt, isUnsent else { return }
    self.status = .uncertain
    self.reason = LedgerReason(reason.code, "\(reason.text); \(doubt.rawValue)")
  }

  /// Copies the headers that the ledger records.
  mutating func record(_ headers: PushHeaders) {
    priority = headers.priority
    expiration = headers.expiration.epochSeconds
    collapseID = headers.collapseID?.text
  }

  /// What pushes are sent one after another to.
  package enum Recipient: Hashable, Sendable {
    /// `Phone.id`
    case phone(Int64)
    /// The token or channel that all raw pushes of a pseudo ride have in common, whether or not a
    /// phone is registered for it.
    case rawAddress
  }

  /// Nil for a push to a card and for one that was closed without a phone.
  package var recipient: Recipient? {
    if InternalEvent.isRaw(event.name) { return .rawAddress }
    return phone.map { .phone($0) }
  }

  /// Whether it is about a slot of time, not an event that a row of `ridepulse.events` held.
  package var isOfSlot: Bool { event.id == 0 }
}
