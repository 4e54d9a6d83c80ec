/// All data about one ride at one instant: the input of a decision.
package struct RideView: Hashable, Sendable {
  /// The ride's ID, present even if its row is gone.
  package var rideID: RideID
  /// The ride's row; nil if there is none.
  package var ride: Ride?
  /// The events that are not consumed yet, oldest first.
  package var events: [RideEvent]
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
  /// What the last decision left for this one.
  package var memo: Memo
  /// Whether the previous holder lost the ride only when its lease ended, without releasing it.
  package var isTakenOver = false

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
  /// The size of the JSON texts in it, in bytes; it may exceed all the rest by far.
  package var textBytes: Int {
    (ride?.attributes.utf8.count ?? 0) + events.reduce(0) { $0 + $1.data.utf8.count }
  }
}
