import Base
import RideCore

/// Assembles the rows of a claim's statements into views of rides.
struct ClaimReader {
  private let log: Log
  /// The ID under which the rides are claimed.
  private let holder: String
  private var now = Timestamp(microseconds: 0)
  private var nextDue: Timestamp?
  private var lowestEvent: Int64?
  private var claimedTo: Int64?
  private var lowestDue: Timestamp?
  private(set) var claims: [RideClaim] = []
  /// Whether rides of lost claims wait for a claim of their own.
  private(set) var hasLostClaims = false
  /// `ClaimColumns.pauses`.
  private(set) var pauses: Int64?
  /// The memos of `claims`, by the same index: out of a list of both, each would be copied.
  private(set) var memos: [Memo] = []
  var rows = RideRows()

  /// What the claim found about the database; nil if it was none.
  private(set) var report: DatabaseIdentityMonitor.Report?

  init(log: Log, holder: String = "") {
    self.log = log
    self.holder = holder
  }

  mutating func readClaims(_ rows: QueryResult) {
    let columns = ClaimColumns.all
    now = rows[0, columns.now] ?? now
    nextDue = rows[0, columns.nextDue]
    lowestEvent = rows[0, columns.lowestEvent]
    claimedTo = rows[0, columns.claimedTo]
    lowestDue = rows[0, columns.lowestDue]
    hasLostClaims = rows[0, columns.hasLostClaims] == true
    pauses = rows[0, columns.pauses]
    if let system = rows[0, columns.systemIdentifier], let timeline = rows[0, columns.timeline] {
      report = DatabaseIdentityMonitor.Report(
        identity: DatabaseIdentity(systemIdentifier: system, timeline: timeline),
        mayClaim: rows[0, columns.mayClaim] == true, isPinned: rows[0, columns.isPinned] == true)
    }
    claims.reserveCapacity(rows.rowCount)
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init),
        let fence = rows[row, columns.fence]
      else {
        continue
      }
      var claim = RideClaim(rideID: ride, fence: fence)
      claim.holder = holder
      claim.databaseIdentity = report?.identity
      claim.rowLocation = rows[row, columns.rowLocation]
      claim.isTakenOver = rows[row, columns.isTakenOver] == true
      claim.heldUntil = rows[row, columns.heldUntil]
      claims.append(claim)
      memos.append(memo(rows[row, columns.memo], of: ride))
    }
  }

  private mutating func memo(_ text: String?, of ride: RideID) -> Memo {
    guard let text else { return Memo() }
    do {
      return try Memo(storedText: text)
    } catch {
      log(.error, .memoUnreadable, ["ride": ride.text])
      rows.unreadable[ride] = UnreadableRide(reason: "its memo can't be read: \(error)")
      return Memo()
    }
  }

  /// Phones that memos name, which may belong to owners that the ride no longer names.
  var phonesInMemos: [TokenInMemo] {
    collect { memo, ride in
      (memo.waiting.compactMap(\.entry.phone) + memo.phonesWithCards).map {
        TokenInMemo(ride: ride, id: $0)
      }
    }
  }

  /// Pushes that escalations await.
  var awaitedPushes: [(ride: RideID, push: PushID)] {
    collect { memo, ride in
      memo.waiting.flatMap { item in (item.wait.awaited ?? []).map { (ride, $0) } }
    }
  }

  /// The people whom escalations concern, each once for a ride.
  var escalationOwners: [RidePerson] {
    collect { memo, ride in memo.escalationOwners.map { RidePerson(ride: ride, person: $0) } }
  }

  /// Start tokens of cards whose start is retried.
  var startsInMemos: [TokenInMemo] {
    collect { memo, ride in
      memo.waiting.compactMap { item in
        item.entry.startToken.map { TokenInMemo(ride: ride, id: $0) }
      }
    }
  }

  /// Returns what a function finds in the memos, few of which have anything to find.
  private func collect<Found>(_ find: (Memo, RideID) -> [Found]) -> [Found] {
    var found: [Found] = []
    for index in memos.indices where !memos[index].waiting.isEmpty || !memos[index].cards.isEmpty {
      found += find(memos[index], claims[index].rideID)
    }
    return found
  }

  /// Returns a reader of some of the rides, with no rows yet.
  func part(of rides: [RideClaim]) -> ClaimReader {
    let fences = Set(rides.map(\.fence))
    var part = self
    part.rows = RideRows()
    part.claims = []
    part.memos = []
    for (claim, memo) in zip(claims, memos) where fences.contains(claim.fence) {
      part.claims.append(claim)
      part.memos.append(memo)
    }
    return part
  }

  /// Removes rides that the claim does not return.
  mutating func remove(_ rides: [RideClaim]) {
    let fences = Set(rides.map(\.fence))
    let kept = zip(claims, memos).filter { !fences.contains($0.0.fence) }
    claims = kept.map(\.0)
    memos = kept.map(\.1)
  }

  /// What the claim found about the low-water mark.
  var scan: LowWaterMark.ScanResult {
    LowWaterMark.ScanResult(
      lowestEvent: lowestEvent, claimedTo: claimedTo, highestEvent: rows.highestEvent,
      lowestDue: lowestDue, now: now)
  }

  /// Rides that cannot be read.
  var unreadable: [(claim: RideClaim, ride: UnreadableRide)] {
    claims.compactMap { claim in rows.unreadable[claim.rideID].map { (claim, $0) } }
  }

  /// The claim; available once all rows are read.
  var claim: Claim {
    Claim(
      now: now, nextDue: nextDue,
      rides: zip(claims, memos).map { claim, memo in
        var view = rows.view(of: claim.rideID, memo)
        view.isTakenOver = claim.isTakenOver
        view.heldUntil = claim.heldUntil
        return (claim, view)
      })
  }
}
