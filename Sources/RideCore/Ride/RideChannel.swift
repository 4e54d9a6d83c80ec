/// The broadcast channel that was made, or asked for, last for a ride and an app: one row of
/// `ridepulse.channels`.
package struct RideChannel: Hashable, Sendable {
  /// How things stand with it.
  package enum Standing: Hashable, Sendable {
    /// APNs is being asked, or whoever asked has died.
    case beingMade
    /// Nobody knows whether it was made.
    case unanswered
    /// APNs did not make it, for this reason.
    case refused(String)
    /// It is there.
    case open(ChannelID)
    /// It was there.
    case closed
  }

  /// The row's ID.
  package var id: Int64
  /// The app.
  package var app: App
  /// Which of Apple's worlds it is in.
  package var environment: APNsEnvironment
  /// What APNs keeps of its messages.
  package var storage: ChannelStorage
  /// When it was asked for.
  package var createdAt: Timestamp
  /// How things stand with it.
  package var standing: Standing

  /// A channel of a ride.
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

  /// When another one may be asked for, where this one is of no use.
  var nextAsk: Timestamp {
    switch standing {
    // Somebody must mend keys or capabilities first.
    case .refused: createdAt + .seconds(600)
    case .beingMade, .unanswered, .open, .closed: createdAt + ChannelRow.longestCall
    }
  }
}

/// A channel that a ride needs and does not have.
package struct ChannelNeed: Hashable, Sendable {
  /// The app.
  package var app: App
  /// What APNs shall keep of its messages.
  package var storage: ChannelStorage

  /// A channel that is needed.
  package init(app: App, storage: ChannelStorage) {
    self.app = app
    self.storage = storage
  }
}

extension Card {
  /// The card that everybody sees who watches a channel; nil where there is no such channel.
  ///
  /// Its ID is below zero: rows of `ridepulse.live_activities` count upwards.
  init?(of channel: RideChannel) {
    guard case .open(let id) = channel.standing else { return nil }
    self.init(
      id: -channel.id, app: channel.app, ownerID: "", token: id.rawValue,
      environment: channel.environment, registeredAt: channel.createdAt)
    storage = channel.storage
  }
}
