/// The events that RidePulse emits only to make a ride due; a rule file can't name them.
package enum InternalEvent: String, CaseIterable, Hashable, Sendable {
  /// A table with the ride's row was attached.
  case rideWatched = "ride_watched"
  /// The ride's row in an attached table was deleted, or left the rows that are attached.
  case rideRemoved = "ride_removed"
  /// An app registered a card or a new token for one.
  case cardRegistered = "card_registered"
  /// An app reported that a card is gone, or its phone signed out.
  case cardEnded = "card_ended"
  /// APNs created the ride's channel.
  case channelOpened = "channel_opened"
  /// APNs refused the ride a channel.
  case channelRefused = "channel_refused"
}

extension RideEvent {
  /// Whether RidePulse emitted it only to make the ride due.
  var isInternal: Bool { InternalEvent(rawValue: name) != nil }
}
