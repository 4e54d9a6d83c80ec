/// The share of rides that `RIDEPULSE_RECORD` records, chosen by a stable hash of their IDs.
///
/// A ride is recorded whole or not at all, by each node and after each restart.
package struct RecordSample: Hashable, Sendable {
  private let share: OwnerSample

  /// Parses a percentage such as `5%`; nil for anything that `sample` of a rule refuses.
  package init?(text: String) {
    guard let share = OwnerSample(text: text) else { return nil }
    self.share = share
  }

  package init?(millionths: UInt64) {
    guard let share = OwnerSample(millionths: millionths) else { return nil }
    self.share = share
  }

  package var millionths: UInt64 { share.millionths }

  /// The share as it was written, without superfluous zeros.
  package var text: String { share.text }

  /// The share in percent.
  package var percent: Double { Double(share.millionths) / 10_000 }

  /// Returns whether a ride is recorded; never a pseudo ride of raw pushes, which no rule decides.
  package func contains(_ ride: RideID) -> Bool {
    if RawPush.Source(of: ride) != nil { return false }
    return share.contains(OwnerID(ride.text), of: "ridepulse record")
  }
}
