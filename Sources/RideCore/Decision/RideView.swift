/// All that is known of one ride at one instant: what a decision looks at.
package struct RideView: Hashable, Sendable {
  /// The ride's ID, known also where its row is gone.
  package var rideID: RideID
  /// The ride's row; nil where there is none.
  package var ride: Ride?
  /// The events that nobody has consumed yet, oldest first.
  package var events: [RideEvent]
  /// Whether there are more events than a look reads.
  package var hasMoreEvents = false
  /// Phones of everybody whom the ride, its events and its memo concern.
  package var phones: [Phone]
  /// The cards that apps have registered for the ride, those that are gone among them.
  package var cards: [Card]
  /// The last channel of the ride for each app and environment.
  package var channels: [RideChannel] = []
  /// Tokens that can start a card on a phone of somebody whom the ride concerns.
  package var startTokens: [StartToken]
  /// What the last decision left to itself.
  package var memo: Memo
  /// Whether somebody else held the ride before, and let it go only with the lease.
  package var isTakenOver = false

  /// A view of one ride.
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

extension RideView {
  /// The bytes of JSON in it, which may be far more than all the rest.
  package var textBytes: Int {
    (ride?.attributes.utf8.count ?? 0) + events.reduce(0) { $0 + $1.data.utf8.count }
  }
}
