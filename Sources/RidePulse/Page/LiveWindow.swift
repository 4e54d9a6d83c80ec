import RideCore

/// The counts of the last minute: counters only rise, so the difference of two readings gives them.
struct LiveWindow {
  /// The difference between the first reading and the last.
  struct Change {
    /// The time between them, a minute at most; less if the first listener connected later.
    var span: Duration = .zero
    /// The verdicts, with their numbers within the window and since the start.
    var lines: [(line: PushTally.Line, count: Int, total: Int)] = []
    /// The numbers of pushes of each type that APNs accepted, by the bounds of `PushTally`.
    var delays: [PushType: [Int]] = [:]
  }

  /// The maximum age of a reading.
  static let length: Duration = .seconds(60)

  private var readings: [(at: Duration, tally: PushTally)] = []

  /// Adds a reading.
  ///
  /// - Parameter now: The time on a monotonic clock.
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

/// Computes quantiles of values that were counted in buckets.
enum Quantile {
  /// Returns the number of seconds below which this share of the values lies, interpolated linearly
  /// within a bucket; the last bound for values beyond it. Nil if there are no values.
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
