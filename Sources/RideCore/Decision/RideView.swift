package import Base

/// All data about one ride at one instant: the input of a decision.
package struct RideView: Hashable, Sendable {
  /// The ride's ID, present even if its row is gone.
  package var rideID: RideID
  /// The ride's row; nil if there is none.
  package var ride: Ride?
  /// The events that are not consumed yet, oldest first.
  package var events: [RideEvent]
  /// The traces of events, if their app handed over any and the service exports spans.
  package var traces: [EventTrace] = []
  /// Whether there are more events than one claim reads.
  package var hasMoreEvents = false
  /// The phones of all people whom the ride, its events and its memo concern.
  package var phones: [Phone]
  /// The cards that apps have registered for the ride, including those that are gone.
  package var cards: [Card]
  /// The last channel of the ride for each app and environment.
  package var channels: [RideChannel] = []
  /// Tokens that can start a card on a phone of a person whom the ride concerns.
  package var startTokens: [StartToken]
  /// The last contacts of the ride's people, if a rule reads them.
  package var contacts: [OwnerContact] = []
  /// Those of the pushes that escalations in the memo await which apps have reported as seen.
  package var seen: Set<PushID> = []
  /// The owners of escalations in the memo whose apps have ever reported a receipt.
  package var reporters: Set<PhoneOwner> = []
  /// The highest ID of an event that a replay gave out; 0 outside of replays.
  package var lastEmitted: Int64 = 0
  /// What owners have turned off; read only if a rule has a topic.
  package var optOuts: Set<OptOut> = []
  /// The answers to permits that earlier decisions of the same claim asked for.
  package var permits: [PushID: Permit.Standing] = [:]
  /// What the last decision left for this one.
  package var memo: Memo
  /// Whether the previous holder lost the ride only when its lease ended, without releasing it.
  package var isTakenOver = false
  /// When a previous holder's lease ended, by the database's clock before it went back; nil if it did
  /// not go back meanwhile.
  package var heldUntil: Timestamp?

  package init(
    rideID: RideID, ride: Ride?, events: [RideEvent] = [], phones: [Phone] = [],
    cards: [Card] = [], startTokens: [StartToken] = [], memo: Memo = Memo()
  ) {
    self.rideID = rideID
    self.ride = ride
    self.events = events
    self.phones = phones
    self.cards = cards
    self.startTokens = startTokens
    self.memo = memo
  }
}

/// The last contact of an owner: one row of `ridepulse.contacts`.
package struct OwnerContact: Hashable, Sendable {
  package var app: App
  package var owner: OwnerID
  package var at: Timestamp

  package init(app: App, owner: OwnerID, at: Timestamp) {
    self.app = app
    self.owner = owner
    self.at = at
  }
}

/// A topic that an owner has turned off.
package struct OptOut: Hashable, Sendable {
  package var app: App
  package var owner: OwnerID
  package var topic: Topic

  package init(app: App, owner: OwnerID, topic: Topic) {
    self.app = app
    self.owner = owner
    self.topic = topic
  }
}

extension RideView {
  /// Whether a previous holder may have sent what a decision sends or closes.
  var mayHaveBeenSent: Bool {
    isTakenOver || memo.isTakenOver || memo.part?.isTakenOver == true
  }

  /// The state by which clock rules fire; nil without one, and if the ride's row is not up to date.
  var clockState: String? { ride?.isUnread == true ? nil : ride?.state }

  /// The reason for a slot at which the ride is not in a clock rule's states.
  var notInStates: LedgerReason { ride?.isUnread == true ? .rideUnread : .leftStates }

  /// The ride that stands in for a row in decisions about a person's events; nil for a real ride.
  var pseudoRide: Ride? {
    ride == nil && rideID.isOfPerson ? Ride(id: rideID, state: nil) : nil
  }

  /// The size of the JSON texts in it, in bytes; it may exceed all the rest by far.
  package var textBytes: Int {
    (ride?.attributes.utf8.count ?? 0) + events.reduce(0) { $0 + $1.data.utf8.count }
  }
}

/// The rest of a pass that had too many pushes for one decision.
///
/// It has the same events and slots, and the phones after those already addressed.
package struct OpenPart: Hashable, Sendable {
  /// A slot at which a rule fired.
  package struct Slot: Hashable, Sendable {
    var rule: String
    var at: Timestamp
  }

  /// The last event of the pass; later ones wait until the last part is done.
  var through: Int64
  /// The time of the latest event of the pass; nil without events.
  var throughTime: Timestamp?
  /// When the first part was decided.
  var startedAt: Timestamp
  /// The last phone that was addressed: parts go in the order of `Phone.id`.
  package var after: Int64
  /// The slots that fired in the pass.
  var slots: [Slot]
  /// The IDs of events whose alerts cards have already shown, by `CardTarget.rawValue`.
  var shown: [String: [Int64]] = [:]
  /// The firings that `if` blocked; nil without one.
  var blocked: [RuleFiring]?
  /// What rules remembered in the pass, by rule name; nil if none did.
  var remembered: [String: String]?
  /// True if the pass began with a ride that was taken over: its previous holder had other events,
  /// and may have sent to any of the phones. Nil if not.
  var isTakenOver: Bool?

  /// Returns whether the pass handles an event.
  ///
  /// The time excludes an event that was given the ID of a lost one after a failover.
  func includes(_ event: RideEvent) -> Bool {
    event.id <= through && throughTime.map { event.at <= $0 } ?? true
  }

  /// Returns whether the phone with this ID has been addressed.
  func covers(_ phone: Int64) -> Bool { phone <= after }

  /// The maximum number of pushes to phones in a decision, unless one phone needs more.
  ///
  /// Few enough that even a slow node sends and settles them within the lease.
  package static let size = 1000
}

extension RideView {
  /// Returns the phones that a decision addresses now: all that are left, or the first that keep it
  /// within `OpenPart.size`.
  ///
  /// - Parameter firings: The number of pushes that each phone may receive.
  func phones(forFirings firings: Int) -> (phones: [Phone], isLast: Bool) {
    let left = memo.part.map { part in phones.filter { !part.covers($0.id) } } ?? phones
    let limit = max(1, OpenPart.size / max(1, firings))
    if firings == 0 || left.count <= limit { return (left, true) }
    return (Array(left.sorted { $0.id < $1.id }.prefix(limit)), false)
  }
}
