/// What is to be done about one ride now.
package struct Decision: Sendable {
  /// The view that was decided on.
  package var view: RideView
  /// What is to be sent, in order.
  package var pushes: [PlannedPush] = []
  /// What ended without being sent, and why.
  package var closed: [LedgerEntry] = []
  /// Alerts that a card says in their place, unless it can't be reached.
  package var held: [HeldAlert] = []
  /// What was tried before and waits for a later time.
  package var waiting: [PendingPush] = []
  /// What was not tried yet, and waits for a later time.
  package var postponed: [PendingPush] = []
  /// How far the rules that speak by the clock have come.
  package var slots: [String: SlotMemo] = [:]
  /// What became of slots that were due, by rule.
  package var tallies: [String: SlotTally] = [:]
  /// The next slot at which a rule may speak.
  package var nextSlot: Timestamp?
  /// The lives of the ride's cards, by `Card.id`.
  package var cards: [Int64: CardMemo] = [:]
  /// Starts by push, by `StartToken.id`.
  package var starts: [Int64: StartMemo] = [:]
  /// When a card to which nothing is sent now is to be looked at again.
  package var nextCard: Timestamp?
  /// Tokens that are of no more use, whatever becomes of the pushes.
  package var gone: [TokenInvalidation] = []
  /// Broadcast channels that the ride needs.
  package var needs: [ChannelNeed] = []
  /// Whether the ride's state is one of the active ones.
  package var isActive = false
  /// The events that the settlement consumes.
  package var consumed: [Int64] = []
  /// What is left of this look, if it has too many pushes for one decision.
  package var part: OpenPart?

  /// What is not sent, and why, as long as cards can be reached.
  package var unsent: [LedgerEntry] { closed + held.map(\.entry) }

  /// What must be written down before anything is sent; nil where nothing must.
  ///
  /// A start must not go twice, so that it is about to go is known first. A card's timestamps must
  /// rise: the clock says so by itself, but for one that was set back.
  package func journal(now: Timestamp) -> Memo? {
    var memo = view.memo
    for push in pushes {
      if let id = push.entry.startToken {
        memo.starts[id] = decision(of: id)
        // Whoever finds it open says that its fate is unknown, and does not try it again.
        memo.retries.removeAll { $0.entry.startToken == id }
      } else if let step = push.step, step.timestamp > now.epochSeconds {
        memo.cards[step.card]?.timestamp = step.timestamp
      }
    }
    return memo == view.memo ? nil : memo
  }

  private func decision(of start: Int64) -> StartMemo? {
    var memo = starts[start]
    memo?.isOpen = true
    return memo
  }
}

/// One push that a decision wants sent.
package struct PlannedPush: Hashable, Sendable {
  /// What the ledger will say of it.
  package var entry: LedgerEntry
  /// Which of Apple's worlds the token belongs to.
  package var environment: APNsEnvironment
  /// Whom it is for.
  package var address: PushAddress
  /// The `apns-` headers.
  package var headers: PushHeaders
  /// The JSON body.
  package var payload: [UInt8]
  /// Past this instant it is not sent any more.
  package var validUntil: Timestamp
  /// Whether it tries its phone in the other environment.
  var isProbe = false
  /// Whether it may go again in the other environment, should APNs call its token bad.
  var mayProbe = false
  /// Whether APNs called its phone's token bad the last time.
  var isToRefusedPhone = false
  /// What the ledger says of it though APNs takes it.
  var note: LedgerReason?
  /// The row that its text shows, if the ride names another person by now.
  var image: RideImage?
  /// One push in many does something to a card: kept aside, so that all others are half as large.
  private var aside: Aside?

  private indirect enum Aside: Hashable, Sendable {
    case step(CardStep)
  }

  init(
    entry: LedgerEntry, environment: APNsEnvironment, address: PushAddress,
    headers: PushHeaders, payload: [UInt8], validUntil: Timestamp, step: CardStep? = nil,
    note: LedgerReason? = nil
  ) {
    self.entry = entry
    self.environment = environment
    self.address = address
    self.headers = headers
    self.payload = payload
    self.validUntil = validUntil
    self.note = note
    aside = step.map { .step($0) }
  }

  /// What it does to a card that lives.
  var step: CardStep? {
    if case .step(let step) = aside { step } else { nil }
  }

  /// The push for the wire, under a ticket.
  package func request(ticket: UInt64) -> PushRequest {
    var request = PushRequest(
      ticket: ticket, environment: environment, address: address, headers: headers, payload: payload
    )
    request.lane = entry.app.rawValue
    request.validUntil = validUntil
    return request
  }
}

extension PlannedPush {
  /// A push to a phone, with what APNs has said against that one.
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
package struct LedgerEntry: Hashable, Sendable, Codable {
  /// What became of a push, in the words of `deliveries.status`.
  package enum Status: String, Hashable, Sendable, Codable, CaseIterable {
    /// It was tried and goes again.
    case pending
    /// APNs took it.
    case accepted
    /// APNs, or a check before the network, refused it for good.
    case rejected
    /// It was not true any more before it could be delivered.
    case expired
    /// It left, or may have, and is not sent again; nobody knows its fate.
    case uncertain
    /// A rule spoke, and for the reason given nothing was sent.
    case suppressed
    /// A later push to the same phone with the same collapse ID replaced it before it was sent.
    case superseded
  }

  /// The push's ID: the same in every attempt.
  package var id: PushID
  /// What it tells of.
  package var event: RideEvent
  /// The rule's name.
  package var rule: String
  /// The app.
  package var app: App
  /// The push type.
  package var pushType: PushType
  /// What became of it.
  package var status: Status
  /// Why; nil if APNs accepted it and nothing else is to be said.
  package var reason: LedgerReason?
  /// How often it was handed to the transport.
  package var attempts: Int
  /// `apns-collapse-id`.
  package var collapseID: String?
  /// `Phone.id`; nil where there was no phone.
  package var phone: Int64?
  /// The token's last six digits.
  package var tokenSuffix: String?
  /// `apns-priority`; nil where nothing was sent.
  package var priority: PushPriority?
  /// `apns-expiration`.
  package var expiration: Int64?
  /// What it does to a card.
  package var cardEvent: CardEvent?
  /// `Card.id`, of a push to a card that lives.
  package var card: Int64?
  /// `StartToken.id`, of a push that starts a card: such a one must not be sent twice.
  package var startToken: Int64?
  /// Why it may have arrived though nobody was told.
  package var doubt: Doubt?
  /// Whose phone it is for; nil in memos of before.
  package var owner: OwnerID?
}

extension LedgerEntry {
  /// Why a push may have arrived though nobody was told.
  package enum Doubt: String, Hashable, Sendable, Codable {
    /// It was sent, and its answer was lost.
    case unanswered = "an earlier attempt was not answered"
    /// Whoever held the ride before ended without a word.
    case takenOver = "the node that held the ride ended, and may have sent it"
  }

  /// Ends it without its being sent: what may have arrived is not called unsent.
  mutating func end(_ status: Status, _ reason: LedgerReason) {
    self.status = status
    self.reason = reason
    let isUnsent = status == .expired || status == .suppressed || status == .superseded
    guard let doubt, isUnsent else { return }
    self.status = .uncertain
    self.reason = LedgerReason(reason.code, "\(reason.text); \(doubt.rawValue)")
  }

  /// Keeps of the headers what the ledger says.
  mutating func record(_ headers: PushHeaders) {
    priority = headers.priority
    expiration = headers.expiration.epochSeconds
    collapseID = headers.collapseID?.text
  }

  /// Whether it tells of a slot of time, not of an event that a row of `ridepulse.events` held.
  package var isOfSlot: Bool { event.id == 0 }
}
