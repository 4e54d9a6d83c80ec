package import Base

/// One row of `ridepulse.ledger`.
package struct LedgerEntry: Hashable, Sendable {
  /// What it is about, as in `deliveries.kind`.
  package enum Kind: String, StoredAsRaw, Hashable, Sendable, CaseIterable {
    /// A push through APNs.
    case push
    /// An event that a rule emits.
    case emit
    /// An event for an owner who saw no push of a firing in time.
    case escalation
    /// An HTTP POST to a receiver of the service.
    case post

    /// Whether it leaves the node, for APNs or a receiver to accept.
    package var isSent: Bool { self == .push || self == .post }
  }

  /// The outcome of a push, as in `deliveries.status`.
  package enum Status: String, StoredAsRaw, Hashable, Sendable, CaseIterable {
    /// It waits for its first or next attempt.
    case pending
    /// APNs accepted it; of an event, it was emitted.
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
  package var kind = Kind.push
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
  /// The person whom it is for; nil for none, and for a raw push.
  package var owner: OwnerID?
  /// True if the owner received it as a participant of the ride; nil otherwise.
  package var isOfParticipant: Bool?
  /// `apns-unique-id` of the last answer, by which Apple's console finds the push; nil without one.
  package var uniqueID: String?
  /// The receiver, of a post.
  package var receiver: String?
}

// As a part of a memo's JSON.
extension LedgerEntry: StoredObject {
  package static let blank = LedgerEntry(
    id: PushID(of: ""), event: .blank, rule: "", app: .customer, pushType: .alert,
    status: .pending, attempts: 0)

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("id", &id)
    try fields.field("event", &event)
    // Nearly all are pushes.
    var other = kind == .push ? nil : kind
    try fields.field("kind", &other)
    kind = other ?? .push
    try fields.field("rule", &rule)
    try fields.field("app", &app)
    try fields.field("pushType", &pushType)
    try fields.field("status", &status)
    try fields.field("reason", &reason)
    try fields.field("attempts", &attempts)
    try fields.field("collapseID", &collapseID)
    try fields.field("phone", &phone)
    try fields.field("tokenSuffix", &tokenSuffix)
    try fields.field("priority", &priority)
    try fields.field("expiration", &expiration)
    try fields.field("cardEvent", &cardEvent)
    try fields.field("card", &card)
    try fields.field("startToken", &startToken)
    try fields.field("doubt", &doubt)
    try fields.field("owner", &owner)
    try fields.field("isOfParticipant", &isOfParticipant)
    try fields.field("uniqueID", &uniqueID)
    try fields.field("receiver", &receiver)
  }
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
    /// One person at one receiver of posts.
    case post(String, App, OwnerID)
  }

  /// Nil for a push to a card and for one that was closed without a phone.
  package var recipient: Recipient? {
    if InternalEvent.isRaw(event.name) { return .rawAddress }
    if let receiver, let owner { return .post(receiver, app, owner) }
    // The card of an Android phone is another notification than its alerts.
    if card != nil { return nil }
    return phone.map { .phone($0) }
  }

  /// Marks a push as possibly sent by the ride's previous holder.
  mutating func doubtPreviousHolder() {
    if recipient != nil { doubt = doubt ?? .takenOver }
  }

  package var isAcceptedPush: Bool { status == .accepted && kind == .push }

  /// Its push type; of what is not a push, its kind.
  package var typeName: String { kind == .push ? pushType.rawValue : kind.rawValue }

  /// Whether it is about a slot of time, not an event that a row of `ridepulse.events` held.
  package var isOfSlot: Bool { event.id == 0 }
}
