import Base
import RideCore

/// The low-water mark from which claims scan for events and due rides.
///
/// A transaction that is left open keeps consumed entries in the indexes. All of them are below the
/// unconsumed ones, and every claim would pass over them. A claim therefore begins at what was the
/// lowest entry one or two seconds before. An event that was committed late, or a ride that became
/// due in the past, is below that. If a full scan is cheap, claims make one now and then to find
/// those, an idle node at every claim; if it is expensive, a separate sweep does it alongside the
/// claims.
///
/// While a backlog is claimed, the rides that this node holds lie above the mark, and every claim
/// would pass over their events as well. After a claim that took all it found up to some event, the
/// next ones therefore begin behind that event, for a short time: an event of a ride that was held
/// or locked meanwhile may lie below it.
struct LowWaterMark {
  /// Where a scan begins; nil means at the first entry.
  struct Bounds: Hashable {
    var event: Int64?
    var due: Timestamp?
  }

  /// How a claim scans.
  struct ScanPlan: Hashable {
    var bounds = Bounds()
    /// Whether the claim measures the lowest entries.
    var measuresLowest = true
    /// Whether the claim begins behind the last one, and not at the mark.
    var followsLast = false

    var isFull: Bool { bounds == Bounds() }
  }

  /// What a claim found, apart from parked rides.
  struct ScanResult: Hashable {
    var lowestEvent: Int64?
    /// The event up to which it claimed all it found, if it stopped there at its limit.
    var claimedTo: Int64?
    /// The highest of the events that it read.
    var highestEvent: Int64?
    var lowestDue: Timestamp?
    var now: Timestamp
  }

  private var bounds = Bounds()
  /// Where claims may begin once this is old enough: almost all transactions of that time have
  /// ended.
  private var mark: (bounds: Bounds, at: Duration)?
  private var highestEvent: Int64?
  /// When the next full scan is due; nil while a sweep runs.
  private var nextFull: Duration? = .zero
  private var isCostly = false
  /// The event behind which claims begin, and when a claim last began below it.
  private var last: (event: Int64, since: Duration)?

  static let markAge: Duration = .seconds(1)
  /// How far in the past a settlement may set a ride's due time.
  static let slack: Duration = .seconds(1)
  /// The duration above which a full scan is left to a sweep.
  static let costly: Duration = .milliseconds(50)
  /// The longest pause before the next sweep, and before the next full scan by a claim.
  ///
  /// A late commit is found within three seconds, unless the scan itself takes longer. After a
  /// sweep, some of that time is left to the claim that follows; a full scan that is part of a
  /// claim is as frequent as an idle node polls.
  static let longestRest: Duration = .milliseconds(2800)
  static let shortRest: Duration = .seconds(1)
  /// How long claims may follow one another without a look at what lies below them.
  static let longestRun: Duration = .milliseconds(250)

  /// Returns how a claim at this time scans.
  func plan(at uptime: Duration) -> ScanPlan {
    if let nextFull, uptime >= nextFull, !isCostly { return ScanPlan() }
    let measuresLowest = mark.map { uptime - $0.at >= Self.markAge } ?? true
    if !measuresLowest, let last, uptime - last.since < Self.longestRun {
      let next = min(last.event, .max - 1) + 1
      return ScanPlan(
        bounds: Bounds(event: max(next, bounds.event ?? next), due: bounds.due),
        measuresLowest: false, followsLast: true)
    }
    return ScanPlan(bounds: bounds, measuresLowest: measuresLowest)
  }

  /// Lets the next claim begin at the mark, because rides were released.
  mutating func rewind() { last = nil }

  /// Begins a sweep if one is due; returns the bounds that it must look below, or nil.
  mutating func beginSweep(at uptime: Duration) -> Bounds? {
    guard isCostly, let next = nextFull, uptime >= next else { return nil }
    nextFull = nil
    return bounds
  }

  /// Records that a sweep ended, with what it found below the bounds; nil if it failed.
  mutating func endSweep(_ late: Bounds?, began: Duration, ended: Duration) {
    if let late { lower(to: late) }
    recordFullScan(late == nil ? .seconds(1) : ended - began, at: ended)
  }

  /// Records what a claim found that scanned by this plan.
  mutating func observe(_ scan: ScanResult, by plan: ScanPlan, began: Duration, ended: Duration) {
    if plan.isFull { recordFullScan(ended - began, at: ended) }
    last = scan.claimedTo.map { ($0, plan.followsLast ? last?.since ?? began : began) }
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
      last = nil
      highestEvent = nil
      mark = nil
    }
    if let due = late.due, let known = bounds.due, due < known {
      bounds.due = due
      mark = nil
    }
  }

  /// When the next sweep is due; nil if claims make the full scans themselves.
  var nextSweep: Duration? { isCostly ? nextFull : nil }

  /// Schedules the next full scan.
  ///
  /// A commit just after a scan began is found by the end of the next one, that is after the pause
  /// between them and twice the duration of a scan.
  private mutating func recordFullScan(_ cost: Duration, at uptime: Duration) {
    isCostly = cost > Self.costly
    let rest =
      isCostly
      ? max(cost, min(cost * 20, Self.longestRest - cost * 2)) : min(cost * 250, Self.shortRest)
    nextFull = uptime + rest
  }
}
