/// What is to be done about one ride now.
public struct Decision: Sendable {
  /// The view that was decided on.
  public var view: RideView
  /// What is to be sent, in order.
  public var pushes: [PlannedPush] = []
  /// What ended without being sent, and why.
  public var closed: [LedgerEntry] = []
  /// What was tried before and waits for a later time.
  public var waiting: [PendingPush] = []
  /// How far the rules that speak by the clock have come.
  public var slots: [String: SlotMemo] = [:]
  /// What became of slots that were due, by rule.
  public var tallies: [String: SlotTally] = [:]
  /// The next slot at which a rule may speak.
  public var nextSlot: Instant?
  /// Whether the ride's state is one of the active ones.
  public var isActive = false
}

/// One push that a decision wants sent.
public struct PlannedPush: Hashable, Sendable {
  /// What the ledger will say of it.
  public var entry: LedgerEntry
  /// Which of Apple's worlds the token belongs to.
  public var environment: APNsEnvironment
  /// The phone.
  public var token: DeviceToken
  /// The `apns-` headers.
  public var headers: PushHeaders
  /// The JSON body.
  public var payload: [UInt8]
  /// Past this instant it is not sent any more.
  public var trueUntil: Instant

  /// The push for the wire, under a ticket.
  public func request(ticket: UInt64) -> PushRequest {
    PushRequest(
      ticket: ticket, environment: environment, token: token, headers: headers, payload: payload)
  }
}

/// One row of `ridepulse.ledger`.
public struct LedgerEntry: Hashable, Sendable, Codable {
  /// What became of a push, in the words of `deliveries.status`.
  public enum Status: String, Hashable, Sendable, Codable, CaseIterable {
    /// It was tried and goes again.
    case pending
    /// APNs took it.
    case accepted
    /// APNs, or a check before the network, refused it for good.
    case rejected
    /// It was not true any more before it could be delivered.
    case expired
    /// It left and must not be repeated; nobody knows its fate.
    case uncertain
    /// A rule spoke, and for the reason given nothing was sent.
    case suppressed
  }

  /// The push's ID: the same in every attempt.
  public var id: PushID
  /// What it tells of.
  public var event: RideEvent
  /// The rule's name.
  public var rule: String
  /// The app.
  public var app: App
  /// The push type.
  public var pushType: PushType
  /// What became of it.
  public var status: Status
  /// Why, in Apple's words where Apple said it.
  public var reason: String?
  /// How often it was handed to the transport.
  public var attempts: Int
  /// `apns-collapse-id`.
  public var collapseID: String?
  /// `Phone.id`; nil where there was no phone.
  public var phone: Int64?
  /// The token's last six digits.
  public var tokenSuffix: String?
}

extension LedgerEntry {
  /// Whether it tells of a slot of time, not of an event that a row of `ridepulse.events` held.
  public var isOfSlot: Bool { event.id == 0 }

  /// Whether another push takes this one's place on the phone's screen.
  ///
  /// Sent again after the other, this one would bring back what is no longer so.
  func isSuperseded(by other: LedgerEntry) -> Bool {
    other.event.isNewer(than: event) && other.phone == phone && phone != nil
      && other.collapseID == collapseID && collapseID != nil
  }
}
