/// One row of `ridepulse.channels`: a channel of ours, or a create that was to make one.
package struct ChannelRow: Hashable, Sendable {
  /// The row's ID.
  package var id: Int64
  /// The app that it is for.
  package var app: App
  /// The ID that APNs gave; nil until its answer has come.
  package var channel: ChannelID?
  /// What APNs keeps of its messages.
  package var storage: ChannelStorage
  /// The ride that it is for; nil where it is for none.
  package var rideID: RideID?
  /// `apns-request-id` of the create.
  package var requestID: PushID
  /// When the row was written, just before the create.
  package var createdAt: Timestamp
  /// When its ID was noted.
  package var confirmedAt: Timestamp?
  /// When it was clear that nobody knows what became of the create.
  package var unansweredAt: Timestamp?
  /// When it was given up.
  package var endedAt: Timestamp?
  /// Why.
  package var endedReason: String?

  /// A row.
  package init(
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
  package static let longestCall: Duration = .seconds(60)
}

/// A channel that somebody is about to make.
package struct ChannelWish: Hashable, Sendable {
  /// The app that it is for.
  package var app: App
  /// Where it is to be.
  package var scope: ChannelScope
  /// What APNs shall keep of its messages.
  package var storage: ChannelStorage
  /// The ride that it is for; nil for none.
  package var rideID: RideID?
  /// `apns-request-id` of the create.
  package var requestID: PushID
  /// Whether the ride goes on only once it knows what became of it.
  package var isAwaited = false

  /// A wish.
  package init(
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
package struct OtherChannel: Hashable, Sendable {
  /// Its ID.
  package var channel: ChannelID
  /// When the last listing without it began; nil: it stood in the first one that there was.
  package var absentAt: Timestamp?
  /// When the first listing with it had come.
  package var seenAt: Timestamp
  /// What it keeps, where somebody has read it.
  package var storage: ChannelStorage?

  /// A channel that somebody made between two listings.
  package init(
    channel: ChannelID, absentAt: Timestamp?, seenAt: Timestamp, storage: ChannelStorage? = nil
  ) {
    self.channel = channel
    self.absentAt = absentAt
    self.seenAt = seenAt
    self.storage = storage
  }
}
