package import Base

/// One row of `ridepulse.channels`: a channel of this service, or a create that was to make one.
package struct ChannelRow: Hashable, Sendable {
  package var id: Int64
  package var app: App
  /// The ID that APNs assigned; nil until its response arrives.
  package var channel: ChannelID?
  package var storage: ChannelStorage
  /// The ride that the channel belongs to; nil if it belongs to none.
  package var rideID: RideID?
  /// `apns-request-id` of the create.
  package var requestID: PushID
  /// When the row was written, just before the create.
  package var createdAt: Timestamp
  /// When the channel's ID was recorded.
  package var confirmedAt: Timestamp?
  /// When the outcome of the create was recorded as unknown.
  package var unansweredAt: Timestamp?
  /// When the channel was given up.
  package var endedAt: Timestamp?
  /// Why the channel was given up.
  package var endedReason: String?

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

  /// The longest time after its row was written that a create may still reach APNs: its timeout
  /// plus network delay.
  ///
  /// After that the create has made a channel or never will; if the row has no response, the
  /// channel's ID is lost.
  package static let longestCall: Duration = .seconds(60)
}

/// A channel that is about to be created.
package struct NewChannel: Hashable, Sendable {
  package var app: App
  package var scope: ChannelScope
  package var storage: ChannelStorage
  /// The ride that the channel belongs to; nil if it belongs to none.
  package var rideID: RideID?
  /// `apns-request-id` of the create.
  package var requestID: PushID
  /// Whether the ride waits for the outcome of the create.
  package var isAwaited = false

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
  package var channel: ChannelID
  /// When the last listing without it was requested; nil if the first listing ever contained it.
  package var absentAt: Timestamp?
  /// When the first listing with it was received.
  package var seenAt: Timestamp
  /// Its storage policy; nil if it has not been read.
  package var storage: ChannelStorage?

  package init(
    channel: ChannelID, absentAt: Timestamp?, seenAt: Timestamp, storage: ChannelStorage? = nil
  ) {
    self.channel = channel
    self.absentAt = absentAt
    self.seenAt = seenAt
    self.storage = storage
  }
}

/// The broadcast channel that was created or requested last for a ride and an app: one row of
/// `ridepulse.channels`.
package struct RideChannel: Hashable, Sendable {
  /// The state of the channel.
  package enum Standing: Hashable, Sendable {
    /// The create request is in progress, or the process that sent it died.
    case creating
    /// Whether the channel was created is unknown.
    case unanswered
    /// APNs did not create it, for this reason.
    case refused(String)
    /// The channel exists.
    case open(ChannelID)
    /// APNs no longer has the channel, which was open.
    case closed
    /// The channel ended like its card.
    case over
  }

  package var id: Int64
  package var app: App
  package var environment: APNsEnvironment
  package var storage: ChannelStorage
  /// When it was requested.
  package var createdAt: Timestamp
  package var standing: Standing

  package init(
    id: Int64, app: App, environment: APNsEnvironment, storage: ChannelStorage,
    createdAt: Timestamp, standing: Standing
  ) {
    self.id = id
    self.app = app
    self.environment = environment
    self.storage = storage
    self.createdAt = createdAt
    self.standing = standing
  }

  /// Whether a channel with this `ended_reason` ended like its card.
  package static func isOver(endedReason: String?) -> Bool {
    endedReason == "ended" || endedReason == "expired"
  }

  /// The earliest time to request another channel if this one is unusable.
  var retryAt: Timestamp {
    switch standing {
    // Keys or capabilities must be fixed first.
    case .refused: createdAt + .seconds(600)
    case .creating, .unanswered, .open, .closed, .over: createdAt + ChannelRow.longestCall
    }
  }
}

/// A channel that a ride needs and does not have.
package struct ChannelNeed: Hashable, Sendable {
  package var app: App
  package var storage: ChannelStorage

  package init(app: App, storage: ChannelStorage) {
    self.app = app
    self.storage = storage
  }
}

extension Card {
  /// The card that all subscribers of a channel see; nil if the channel is not open.
  init?(of channel: RideChannel) {
    guard case .open(let id) = channel.standing else { return nil }
    self.init(
      .channel(channel.id), app: channel.app, ownerID: "", token: id.rawValue,
      environment: channel.environment, registeredAt: channel.createdAt)
    storage = channel.storage
  }
}
