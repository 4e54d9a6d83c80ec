import RideCore

/// From where on claims look for events and for rides that are due.
///
/// Whoever leaves a transaction open keeps what was consumed since in the indexes, and all of it lies
/// below what is still to come: each claim would walk over it. So a claim begins where the lowest was
/// found a second or two before. An event that was committed late, or a ride that became due in the
/// past, lies below that. Where it costs little, a claim looks at everything now and then and finds it,
/// at each look of a node that rests; where it costs much, somebody else looks, beside the claims.
struct LowWaterMark {
  /// Where a claim begins; nil: at everything.
  struct Bounds: Hashable {
    var event: Int64?
    var due: Timestamp?
  }

  /// How a claim is to look.
  struct ScanPlan: Hashable {
    var bounds = Bounds()
    /// It says what is lowest.
    var measuresLowest = true

    var isFull: Bool { bounds == Bounds() }
  }

  /// What a claim saw, of all that nobody has set aside.
  struct ScanResult: Hashable {
    var lowestEvent: Int64?
    /// Of the events that it took.
    var highestEvent: Int64?
    var lowestDue: Timestamp?
    var now: Timestamp
  }

  private var bounds = Bounds()
  /// Where claims may begin once this is older: transactions of that time have ended then, but for
  /// few.
  private var mark: (bounds: Bounds, at: Duration)?
  private var highestEvent: Int64?
  /// When everything is to be looked at again; nil while somebody does.
  private var nextFull: Duration? = .zero
  private var isCostly = false

  static let markAge: Duration = .seconds(1)
  /// How far in the past a settlement may say that a ride is due.
  static let slack: Duration = .seconds(1)
  /// What a claim may cost more, now and then.
  static let costly: Duration = .milliseconds(50)
  /// A late commit is found within three seconds, unless looking for it takes longer. A look of its
  /// own leaves some of that to the claim that follows; one that is part of a claim comes as often as
  /// a resting node polls.
  static let longestRest: Duration = .milliseconds(2800)
  static let shortRest: Duration = .seconds(1)

  /// How a claim at this time looks.
  func plan(at uptime: Duration) -> ScanPlan {
    if let nextFull, uptime >= nextFull, !isCostly { return ScanPlan() }
    return ScanPlan(
      bounds: bounds, measuresLowest: mark.map { uptime - $0.at >= Self.markAge } ?? true)
  }

  /// Below what somebody else is to look now; nil where nobody need.
  mutating func beginSweep(at uptime: Duration) -> Bounds? {
    guard isCostly, let next = nextFull, uptime >= next else { return nil }
    nextFull = nil
    return bounds
  }

  /// Somebody looked below where claims begin; nil where that failed.
  mutating func endSweep(_ late: Bounds?, began: Duration, ended: Duration) {
    if let late { lower(to: late) }
    everythingWasSeen(late == nil ? .seconds(1) : ended - began, at: ended)
  }

  /// A claim that looked so saw this.
  mutating func observe(_ scan: ScanResult, by plan: ScanPlan, began: Duration, ended: Duration) {
    if plan.isFull { everythingWasSeen(ended - began, at: ended) }
    highestEvent = [highestEvent, scan.highestEvent].compactMap(\.self).max()
    guard plan.measuresLowest else { return }
    lower(to: Bounds(event: scan.lowestEvent, due: scan.lowestDue))
    let found = Bounds(
      event: scan.lowestEvent ?? highestEvent.map { min($0, .max - 1) + 1 },
      due: min(scan.lowestDue ?? scan.now, scan.now) - Self.slack)
    if let old = mark {
      if ended - old.at < Self.markAge { return }
      bounds = old.bounds
    }
    mark = (found, ended)
  }

  private mutating func lower(to late: Bounds) {
    if let event = late.event, let known = bounds.event, event < known {
      bounds.event = event
      highestEvent = nil
      mark = nil
    }
    if let due = late.due, let known = bounds.due, due < known {
      bounds.due = due
      mark = nil
    }
  }

  /// When the next look below where claims begin is due; nil if claims do it themselves.
  var nextSweep: Duration? { isCostly ? nextFull : nil }

  /// A commit just after a look began is found by the next one's end: that takes the rest between
  /// them and twice the look's own time.
  private mutating func everythingWasSeen(_ cost: Duration, at uptime: Duration) {
    isCostly = cost > Self.costly
    let rest =
      isCostly
      ? max(cost, min(cost * 20, Self.longestRest - cost * 2)) : min(cost * 250, Self.shortRest)
    nextFull = uptime + rest
  }
}
