/// The broadcast channel that was created or requested last for a ride and an app: one row of
/// `ridepulse.channels`.
package struct RideChannel: Hashable, Sendable {
  /// The state of the channel.
  package enum Standing: Hashable, Sendable {
    /// The create request is in progress, or the process that sent it died.
    case beingMade
    /// Whether the channel was created is unknown.
    case unanswered
    /// APNs did not create it, for this reason.
    case refused(String)
    /// The channel exists.
    case open(ChannelID)
    /// The channel existed and is closed.
    case closed
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

  /// The earliest time to request another channel if this one is unusable.
  var nextAsk: Timestamp {
    switch standing {
    // Keys or capabilities must be fixed first.
    case .refused: createdAt + .seconds(600)
    case .beingMade, .unanswered, .open, .closed: createdAt + ChannelRow.longestCall
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
