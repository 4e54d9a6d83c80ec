/// The events that RidePulse emits for itself; a rule file can't name them.
package enum InternalEvent: String, CaseIterable, Hashable, Sendable {
  /// A table with the ride's row was attached.
  case rideWatched = "ride_watched"
  /// The ride's row in an attached table was deleted, or left the rows that are attached.
  case rideRemoved = "ride_removed"
  /// An app registered a card or a new token for one.
  case cardRegistered = "card_registered"
  /// An app reported that a card is gone, or its phone signed out.
  case cardEnded = "card_ended"
  /// The owner of a live card turned a topic on or off.
  case preferenceChanged = "preference_changed"
  /// APNs created the ride's channel.
  case channelOpened = "channel_opened"
  /// APNs refused the ride a channel.
  case channelRefused = "channel_refused"
  /// `ridepulse.push` was called: the data has the push.
  case rawPush = "raw_push"
  /// `ridepulse.broadcast` was called: the data has the push.
  case rawBroadcast = "raw_broadcast"

  /// Returns whether an event of this name has a raw push.
  static func isRaw(_ name: String) -> Bool {
    name == rawPush.rawValue || name == rawBroadcast.rawValue
  }
}

extension RideEvent {
  /// Whether RidePulse emitted it for itself.
  var isInternal: Bool { InternalEvent(rawValue: name) != nil }
}
