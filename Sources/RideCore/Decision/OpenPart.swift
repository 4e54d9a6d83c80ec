/// What is left of a look that had too many pushes for one decision: the same events and slots, for
/// the phones after those that were addressed.
package struct OpenPart: Hashable, Sendable, Codable {
  /// A slot at which a rule fired.
  package struct Slot: Hashable, Sendable, Codable {
    var rule: String
    var at: Timestamp
  }

  /// The last event of the look; later ones wait for the last part.
  var through: Int64
  /// The last phone that was addressed: parts go by `Phone.id`.
  package var after: Int64
  /// The slots that fired in the look.
  var slots: [Slot]
  /// The events that cards have shown already, by app.
  var shown: [String: [Int64]] = [:]

  /// Whether phones with this ID have been addressed.
  func covers(_ phone: Int64) -> Bool { phone <= after }

  /// The most pushes that a decision plans for phones, as far as one phone's fit: few enough to be
  /// sent and settled within the lease, also by a slow node.
  package static let size = 1000
}

extension RideView {
  /// The phones that a decision addresses now: all that are left, or as many of the first as keep
  /// it within `OpenPart.size`.
  ///
  /// - Parameter firings: how many pushes each phone may receive.
  func phones(forFirings firings: Int) -> (phones: [Phone], isLast: Bool) {
    let left = memo.part.map { part in phones.filter { !part.covers($0.id) } } ?? phones
    let limit = max(1, OpenPart.size / max(1, firings))
    if firings == 0 || left.count <= limit { return (left, true) }
    return (Array(left.sorted { $0.id < $1.id }.prefix(limit)), false)
  }
}
