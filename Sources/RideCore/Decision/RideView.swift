/// All that is known of one ride at one instant: what a decision looks at.
public struct RideView: Hashable, Sendable {
  /// The ride's ID, known also where its row is gone.
  public var rideID: RideID
  /// The ride's row; nil where there is none.
  public var ride: Ride?
  /// The events that nobody has consumed yet, oldest first.
  public var events: [RideEvent]
  /// Whether there are more events than a look reads.
  public var hasMoreEvents = false
  /// Phones of everybody whom the ride, its events and its memo concern.
  public var phones: [Phone]
  /// The cards that apps have registered for the ride, those that are gone among them.
  public var cards: [Card]
  /// The last channel of the ride for each app and environment.
  public var channels: [RideChannel] = []
  /// Tokens that can start a card on a phone of somebody whom the ride concerns.
  public var startTokens: [StartToken]
  /// What the last decision left to itself.
  public var memo: Memo
  /// Whether somebody else held the ride before, and let it go only with the lease.
  public var isTakenOver = false

  /// A view of one ride.
  public init(
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

extension RideView {
  /// The bytes of JSON in it, which may be far more than all the rest.
  public var textBytes: Int {
    (ride?.attributes.utf8.count ?? 0) + events.reduce(0) { $0 + $1.data.utf8.count }
  }
}
