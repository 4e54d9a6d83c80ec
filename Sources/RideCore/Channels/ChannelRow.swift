/// One row of `ridepulse.channels`: a channel of ours, or a create that was to make one.
public struct ChannelRow: Hashable, Sendable {
  /// The row's ID.
  public var id: Int64
  /// The app that it is for.
  public var app: App
  /// The ID that APNs gave; nil until its answer has come.
  public var channel: ChannelID?
  /// What APNs keeps of its messages.
  public var storage: ChannelStorage
  /// The ride that it is for; nil where it is for none.
  public var rideID: RideID?
  /// `apns-request-id` of the create.
  public var requestID: PushID
  /// When the row was written, just before the create.
  public var createdAt: Timestamp
  /// When its ID was noted.
  public var confirmedAt: Timestamp?
  /// When it was clear that nobody knows what became of the create.
  public var unansweredAt: Timestamp?
  /// When it was given up.
  public var endedAt: Timestamp?
  /// Why.
  public var endedReason: String?

  /// A row.
  public init(
    id: Int64, app: App, channel: ChannelID? = nil, storage: ChannelStorage,
    rideID: RideID? = nil, requestID: PushID, createdAt: Timestamp
  ) {
    self.id = id
    self.app = app
    self.channel = channel
    self.storage = storage
    self.rideID = rideID
    self.requestID = requestID
    self.createdAt = createdAt
  }

  /// How long after its row a create may still reach APNs: its own limit and what a network keeps
  /// back. Later it has made a channel or never will, and a row without an answer has lost it.
  public static let longestCall: Duration = .seconds(60)
}

/// A channel that somebody is about to make.
public struct ChannelWish: Hashable, Sendable {
  /// The app that it is for.
  public var app: App
  /// Where it is to be.
  public var scope: ChannelScope
  /// What APNs shall keep of its messages.
  public var storage: ChannelStorage
  /// The ride that it is for; nil for none.
  public var rideID: RideID?
  /// `apns-request-id` of the create.
  public var requestID: PushID
  /// Whether the ride goes on only once it knows what became of it.
  public var isAwaited = false

  /// A wish.
  public init(
    app: App, scope: ChannelScope, storage: ChannelStorage, rideID: RideID? = nil,
    requestID: PushID
  ) {
    self.app = app
    self.scope = scope
    self.storage = storage
    self.rideID = rideID
    self.requestID = requestID
  }
}

/// A channel that Apple listed and no row names.
public struct OtherChannel: Hashable, Sendable {
  /// Its ID.
  public var channel: ChannelID
  /// When the last listing without it began; nil: it stood in the first one that there was.
  public var absentAt: Timestamp?
  /// When the first listing with it had come.
  public var seenAt: Timestamp
  /// What it keeps, where somebody has read it.
  public var storage: ChannelStorage?

  /// A channel that somebody made between two listings.
  public init(
    channel: ChannelID, absentAt: Timestamp?, seenAt: Timestamp, storage: ChannelStorage? = nil
  ) {
    self.channel = channel
    self.absentAt = absentAt
    self.seenAt = seenAt
    self.storage = storage
  }
}
