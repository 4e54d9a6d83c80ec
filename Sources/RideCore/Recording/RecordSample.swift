/// A share of rides, such as that which `RIDEPULSE_RECORD` records, chosen by a stable hash of
/// their IDs.
///
/// A ride belongs to it as a whole or not at all, on each node and after each restart. A larger
/// share of the same name has all rides of a smaller one.
package struct RecordSample: Hashable, Sendable {
  /// The share in millionths: 100,000 is 10 %.
  package let millionths: UInt64

  /// Parses a percentage such as `10%` or `0.5%`, above 0 and at most 100, with up to four decimals;
  /// nil for anything else.
  package init?(text: String) {
    guard text.utf8.last == UInt8(ascii: "%") else { return nil }
    let parts = text.dropLast().split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? parts[1] : ""
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard isNumber, let whole = parts.first, whole.count <= 3, decimals.count <= 4,
      let millionths = UInt64(
        whole + decimals + String(repeating: "0", count: 4 - decimals.count))
    else { return nil }
    self.init(millionths: millionths)
  }

  package init?(millionths: UInt64) {
    guard (1...1_000_000).contains(millionths) else { return nil }
    self.millionths = millionths
  }

  /// The share as it was written, without superfluous zeros.
  package var text: String {
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 10_000)
    if rest == 0 { return "\(whole)%" }
    var decimals = String(String(rest + 10_000).dropFirst())
    while decimals.hasSuffix("0") { decimals.removeLast() }
    return "\(whole).\(decimals)%"
  }

  /// The share in percent.
  package var percent: Double { Double(millionths) / 10_000 }

  /// Returns whether a ride is recorded.
  package func contains(_ ride: RideID) -> Bool { contains(ride, hashedAs: "ridepulse record") }

  /// Returns whether a ride belongs to the share of a name; never a pseudo ride of raw pushes, which
  /// no rule decides.
  package func contains(_ ride: RideID, hashedAs name: String) -> Bool {
    if RawPush.Source(of: ride) != nil { return false }
    return OwnerShare.bits(of: ride.text, named: name) * 1_000_000 < millionths << 32
  }
}
