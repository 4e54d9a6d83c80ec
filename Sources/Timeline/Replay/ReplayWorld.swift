package import Base
package import RideCore

/// The inputs of a replay from outside its rides: the data of people, and APNs' answers.
package protocol ReplayWorld {
  /// Completes a ride's data before a decision, as a claim reads them.
  mutating func claim(_ view: inout RideView)
  /// Returns what APNs answers to a push; nil leaves that to the script.
  mutating func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome?
  /// Returns a number from 0 up to 1 that spreads a retry.
  func spread(ofRide ride: RideID, at now: Timestamp) -> Double
}

/// The world of a replay whose rides have all their data.
struct ScriptedWorld: ReplayWorld {
  func claim(_ view: inout RideView) {}
  func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome? { nil }
  /// Retries are spread by chance; a replay takes the mean.
  func spread(ofRide ride: RideID, at now: Timestamp) -> Double { 0.5 }
}
