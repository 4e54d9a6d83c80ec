import RideCore

/// What was counted within the last minute: counters only rise, so two of their readings say it.
struct LiveWindow {
  /// What came to be between the first reading and the last.
  struct Change {
    /// How far they are apart, a minute at most; less where nobody listened for so long.
    var span: Duration = .zero
    /// Fates, with how often in the window and since the start.
    var lines: [(line: PushTally.Line, count: Int, total: Int)] = []
    /// How many pushes of each type APNs took, by the bounds of `PushTally`.
    var delays: [PushType: [Int]] = [:]
  }

  /// How far back it looks.
  static let length: Duration = .seconds(60)

  private var readings: [(at: Duration, tally: PushTally)] = []

  /// Takes a reading.
  ///
  /// - Parameter now: on a clock that only rises.
  mutating func add(_ tally: PushTally, at now: Duration) {
    readings.removeAll { $0.at < now - Self.length }
    readings.append((now, tally))
  }

  var change: Change {
    guard let first = readings.first, let last = readings.last else { return Change() }
    var change = Change(span: last.at - first.at)
    for (line, total) in last.tally.lines {
      let before = first.tally.lines.first { $0.line == line }?.count ?? 0
      change.lines.append((line, total - before, total))
    }
    for delay in last.tally.delays {
      let before = first.tally.delays.first {
        $0.app == delay.app && $0.pushType == delay.pushType
      }
      var counts = delay.counts
      if let before { counts = zip(counts, before.counts).map { $0 - $1 } }
      change.delays[delay.pushType] = zip(
        change.delays[delay.pushType] ?? counts.map { _ in 0 }, counts
      ).map { $0 + $1 }
    }
    return change
  }
}

/// A share of values that were counted by bounds.
enum Quantile {
  /// The seconds below which a share of them lies, as if values lay evenly between two bounds; the
  /// last bound for those beyond it. Nil where there are none.
  static func seconds(_ share: Double, of counts: [Int], bounds: [Double] = PushTally.bounds)
    -> Double?
  {
    let total = counts.reduce(0, +)
    guard total > 0 else { return nil }
    let rank = share * Double(total)
    var below = 0.0
    for (index, count) in counts.enumerated() where count > 0 {
      guard index < bounds.count else { break }
      if below + Double(count) >= rank {
        let low = index == 0 ? 0 : bounds[index - 1]
        return low + (bounds[index] - low) * (rank - below) / Double(count)
      }
      below += Double(count)
    }
    return bounds.last
  }
}
