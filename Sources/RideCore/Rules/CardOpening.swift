import Base

/// `from` of a card: a time of the ride, and an offset from it.
package struct CardOpening: Hashable, Sendable, CustomStringConvertible {
  package var time: RideTime
  /// Negative before the time.
  package var offset: Duration

  package init(_ time: RideTime, offset: Duration = .zero) {
    (self.time, self.offset) = (time, offset)
  }

  /// Parses `pickup_at - 45m`, `attributes.gate_at + 1h` or a time alone; nil for anything else.
  package init?(text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 1 || words.count == 3, let time = RideTime(words[0]) else { return nil }
    self.init(time)
    if words.count == 1 { return }
    guard let offset = Duration(rideText: words[2]) else { return nil }
    switch words[1] {
    case "-": self.offset = .zero - offset
    case "+": self.offset = offset
    default: return nil
    }
  }

  package var description: String {
    let base =
      switch time {
      case .pickupAt: "pickup_at"
      case .attribute(let keys): (["attributes"] + keys).joined(separator: ".")
      }
    if offset == .zero { return base }
    return offset < .zero
      ? "\(base) - \((.zero - offset).rideText)" : "\(base) + \(offset.rideText)"
  }
}
