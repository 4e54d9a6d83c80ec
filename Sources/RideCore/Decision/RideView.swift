/// All that is known of one ride at one instant: what a decision looks at.
public struct RideView: Hashable, Sendable {
  /// The ride's ID, known also where its row is gone.
  public var rideID: String
  /// The ride's row; nil where there is none.
  public var ride: Ride?
  /// The events that nobody has consumed yet, oldest first.
  public var events: [RideEvent]
  /// Phones of everybody whom the ride, its events and its memo concern.
  public var phones: [Phone]
  /// What the last decision left to itself.
  public var memo: Memo

  /// A view of one ride.
  public init(
    rideID: String, ride: Ride?, events: [RideEvent] = [], phones: [Phone] = [],
    memo: Memo = Memo()
  ) {
    self.rideID = rideID
    self.ride = ride
    self.events = events
    self.phones = phones
    self.memo = memo
  }
}

/// What a decision leaves to the next one for the same ride, kept in its agenda row.
public struct Memo: Hashable, Sendable, Codable {
  /// Pushes that were tried and go again later.
  public var retries: [PendingPush] = []

  /// A memo with nothing in it.
  public init() {}

  /// Nothing needs to be kept.
  public var isEmpty: Bool { retries.isEmpty }
}

/// A push that was tried and goes again; it is rendered anew then, from the ride as it is then.
public struct PendingPush: Hashable, Sendable, Codable {
  /// What the ledger says of it so far.
  public var entry: LedgerEntry
  /// When it goes again.
  public var due: Instant

  /// A push that goes again at a time.
  public init(entry: LedgerEntry, due: Instant) {
    self.entry = entry
    self.due = due
  }
}
