/// One change of the primary, with its figures.
struct Failover: Sendable {
  enum Kind: String, Sendable {
    /// Patroni and Postgres of the primary end by SIGKILL, as with the loss of a machine.
    case kill = "kill -9"
    /// Patroni moves the primary on request.
    case switchover
    /// The primary's processes stop without ending: sessions stay open, without an answer.
    case hang

    /// Whether the former primary is gone, so that its log can be read and it is started again.
    var endsPrimary: Bool { self != .switchover }
  }

  let kind: Kind
  /// The timelines before and after.
  let timeline: Int
  var next = 0
  /// When replication began to be delayed or the switchover was requested, in seconds since 1970.
  var from: Double = 0
  /// When the primary was ended.
  var lostAt: Double = 0
  /// When a session could write again.
  var writableAt: Double = 0
  /// When a standby followed the new primary.
  var redundantAt: Double = 0
  /// The transactions in the former primary's log that the new one lacks: of producers, engine and
  /// all others.
  var beyond: Set<Int64> = []

  var transactions: [CommitLog.Transaction] {
    beyond.map { CommitLog.Transaction(timeline: timeline, xid: $0) }
  }
}

/// The figures of one failover that the records of a run show.
struct FailoverFigures {
  let failover: Failover
  /// Commits acknowledged since the failover before, and how many of them are lost.
  var acknowledged = 0
  var lost = 0
  /// The longest time between two verdicts, until a standby followed the new primary.
  var gap: Double = 0
  var verdicts = 0
  /// Pushes that APNs accepted once more, the first time just before or during the failover.
  var repeats = 0

  /// Distributes a run's commits, verdicts and repeats over its failovers.
  ///
  /// - Parameters:
  ///   - verdicts: The times of all verdicts, in seconds since 1970.
  ///   - repeats: For each repeated push, the time at which it was first accepted.
  static func of(
    _ failovers: [Failover], steps: [CommitLog.Step], lost: [CommitLog.Step], verdicts: [Double],
    repeats: [Double]
  ) -> [FailoverFigures] {
    let (verdicts, lost) = (verdicts.sorted(), Set(lost.map(\.id)))
    var since = 0.0
    return failovers.enumerated().map { index, failover in
      var figures = FailoverFigures(failover: failover)
      let isLast = index == failovers.count - 1
      let end = isLast ? .infinity : failover.redundantAt
      for step in steps where step.transaction != nil && since <= step.at && step.at < end {
        figures.acknowledged += 1
        if lost.contains(step.id) { figures.lost += 1 }
      }
      figures.verdicts = verdicts.count { since <= $0 && $0 < end }
      figures.repeats = repeats.count { (failover.from - 5...failover.writableAt + 5).contains($0) }
      let near = [failover.from] + verdicts.filter { $0 > failover.from - 1 }
      figures.gap =
        zip(near, near.dropFirst()).filter { $0.0 < failover.redundantAt }
        .map { $0.1 - $0.0 }.max() ?? 0
      since = end
      return figures
    }
  }
}
