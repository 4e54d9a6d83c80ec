import Base
package import RideCore
import Synchronization

// Claiming due rides, and reading the input of their decisions.
extension PostgresRideStore {
  /// Claims due rides and reads the input of their decisions.
  ///
  /// Rides that do not fit into the time or memory of one claim are released at once.
  ///
  /// - Throws: `StoreFailure`. Rides claimed before the failure are released, or fall due again
  ///   when their lease ends.
  package func claim(limit: Int, asleep: Bool) async throws -> Claim {
    let began = uptime
    sweep(at: began)
    let plan = lowWaterMark.withLock { $0.plan(at: began) }
    // A node that cannot receive notifications registers as awake: a NOTIFY would cost producers
    // time and not arrive.
    let holder = newHolder()
    let isAsleep = asleep && listener?.isHealthy ?? false
    let calls = [
      Call(ClaimStatements.lookups),
      Call(
        ClaimStatements.claim,
        [
          node, host, isAsleep ? "t" : "f", String(limit), String(lease.microseconds / 1000),
          String(plan.bounds.event ?? .min), plan.bounds.due.map { String($0.microseconds) },
          plan.measuresLowest ? "t" : "f", holder,
        ] + pin.parameters),
    ]
    let results: [QueryResult]
    do {
      results = try await run(claims, calls)
    } catch let failure as StoreFailure where failure.cause == .timeout && limit == 1 {
      throw await addingStatementTimeout(failure)
    }
    let ended = uptime
    if asleep, let listener {
      // Runs alongside the claim: its outcome does not change the claim's.
      Task { [claims] in _ = try? await listener.check(through: claims) }
    }
    var reader = ClaimReader(log: log, holder: holder)
    reader.readClaims(results[1])
    let hasLostClaims = reader.hasLostClaims
    let hasMoved = if let report = reader.report { await handle(report) } else { false }
    await followPauses(reader.pauses)
    let unread = try await read(&reader, began: ended)
    if !hasMoved {
      lowWaterMark.withLock { mark in
        mark.observe(reader.scan, by: plan, began: began, ended: ended)
        if !unread.isEmpty { mark.rewind() }
      }
    }
    // What lies below the last claim is looked for before the caller takes this for the end.
    if plan.followsLast, reader.claims.isEmpty, !hasLostClaims {
      return try await self.claim(limit: limit, asleep: asleep)
    }
    var claim = await finish(&reader, unread)
    claim.hasLostClaims = hasLostClaims
    claim.isNotified = isAsleep
    // The node claims again at once, from the first entry or from the mark.
    if hasMoved || plan.followsLast { claim.nextDue = claim.now }
    // The node claims again when the next sweep is due.
    if let sweep = lowWaterMark.withLock({ $0.nextSweep }) {
      let due = claim.now + max(.zero, sweep - uptime)
      claim.nextDue = min(claim.nextDue ?? due, due)
    }
    return claim
  }

  /// Returns the claim without the rides that could not be read, or were not.
  private func finish(_ reader: inout ClaimReader, _ unread: [RideClaim]) async -> Claim {
    let unreadable = reader.unreadable
    await deferUnreadable(unreadable)
    reader.remove(unreadable.map(\.claim) + unread)
    var claim = reader.claim
    claim.released = unread.count
    return claim
  }

  /// Claims rides whose last claim ended with its node, and parks those that did so too often.
  ///
  /// - Throws: `StoreFailure`.
  package func claimLost() async throws -> Claim {
    let began = uptime
    let holder = newHolder()
    let milliseconds = String(lease.microseconds / 1000)
    let short = min(lease, LostClaimStatements.shortLease)
    let results = try await run(
      claims,
      [
        Call(ClaimStatements.lookups), Call(LostClaimStatements.park, pin.parameters),
        Call(LostClaimStatements.removeVoid),
        Call(
          LostClaimStatements.claim,
          [
            milliseconds, String(short.microseconds / 1000), String(LostClaimStatements.batch),
            holder,
          ] + pin.parameters),
      ])
    logParked(results[1], .rideParkedByNode)
    var reader = ClaimReader(log: log, holder: holder)
    reader.readClaims(results[3])
    let hasLostClaims = reader.hasLostClaims
    await followPauses(reader.pauses)
    let unread = try await read(&reader, began: began)
    var claim = await finish(&reader, unread)
    claim.hasLostClaims = hasLostClaims
    return claim
  }

  private func logParked(_ rides: QueryResult, _ event: LogEvent) {
    for row in 0..<rides.rowCount {
      log(
        .error, event,
        [
          "ride": rides.string(row, 0) ?? "", "reason": rides.string(row, 1) ?? "",
          "action": "fix the cause, then run: ridepulse unpark RIDE",
        ])
    }
  }

  /// Reads the claimed rides. After a failure, a claim of no ride reads for none: it would pass for a
  /// success, and nodes that claim the same rides in turn would never seem to fail.
  ///
  /// - Returns: The rides that no time or memory was left for, already released.
  private func read(_ reader: inout ClaimReader, began: Duration) async throws -> [RideClaim] {
    if reader.claims.isEmpty, !readsFail.withLock({ $0 }) { return [] }
    do {
      let unread: [RideClaim]
      if reader.claims.isEmpty {
        try await check(reader)
        unread = []
      } else {
        unread = try await readClaimed(&reader, began: began)
      }
      readsFail.withLock { $0 = false }
      return unread
    } catch {
      readsFail.withLock { $0 = true }
      throw error
    }
  }

  /// Reads claimed rides, the small ones first; a read that fails is split into halves.
  private func readClaimed(
    _ reader: inout ClaimReader, began: Duration
  ) async throws -> [RideClaim] {
    var plan = ReadPlan(reader.claims)
    var failure: StoreFailure?
    var isChecked = false
    while let portion = plan.next {
      let limit = plan.mayStop ? Self.readMore : Self.readLimit
      if uptime - began > limit || plan.bytes > BoundedJSON.claimLimit {
        plan.stop()
        break
      }
      do {
        var part = reader.part(of: portion)
        try await readRows(&part, plan.size)
        let oversized = portion.filter { part.rows.oversized.contains($0.rideID) }
        reader.rows.add(part.rows)
        plan.read(bytes: part.rows.bytes, oversized: oversized)
      } catch let error as StoreFailure {
        failure = error
        switch error.cause {
        case .unavailable, .conflict:
          await releaseOrLog(reader.claims)
          throw error
        case .values, .refused:
          if !isChecked { try await check(reader) }
          isChecked = true
        case .timeout: break
        }
        plan.failed("it can't be read: \(error)")
      }
    }
    if let failure, !plan.hasRead {
      guard plan.unread.isEmpty else {
        await releaseOrLog(reader.claims)
        throw failure
      }
      if !isChecked { try await check(reader) }
    }
    for (claim, reason) in plan.unreadable {
      reader.rows.unreadable[claim.rideID] = UnreadableRide(reason: reason)
    }
    await releaseOrLog(plan.unread)
    return plan.unread
  }

  /// How long a claim reads: well within the part of the lease that a push needs.
  private static let readLimit: Duration = .seconds(5)
  /// The limit once some rides are read and wait for their decisions.
  private static let readMore: Duration = .seconds(1)

  private func readRows(_ reader: inout ClaimReader, _ size: ReadSize) async throws {
    let reading = reading.withLock { $0 }
    // One snapshot, so that the people whom the ride names now match those whom its events named.
    let reads = reading.reads(reader, size)
    let results = try await run(
      claims,
      [Call(RideSnapshot.begin), Call(ClaimStatements.lookups)] + reads.map(\.call)
        + [Call(RideSnapshot.commit)])
    reader.rows.take(reads, results.dropFirst(2))
    try await reading.readPeople(&reader) { try await run(claims, $0) }
  }

  /// Runs the reads for no ride, to find out whether the rides are the cause of a failed read.
  ///
  /// - Throws: The failure if this fails, too; the rides are released then.
  private func check(_ reader: ClaimReader) async throws {
    var none = ClaimReader(log: log)
    do {
      try await readRows(&none, .bounded)
    } catch let failure as StoreFailure {
      await releaseOrLog(reader.claims)
      throw failure.cause == .timeout
        ? await addingStatementTimeout(failure) : StoreFailure(.unavailable, failure.description)
    }
  }

  /// Adds the role's `statement_timeout`, which may be the cause, to a timeout of a single ride.
  private func addingStatementTimeout(_ failure: StoreFailure) async -> StoreFailure {
    let row = try? await run(claims, [Call(ServerState.statementTimeout)])[0]
    guard let row, let role = row.string(0, 0), let limit = row.string(0, 1), limit != "0" else {
      return failure
    }
    return StoreFailure(
      failure.cause,
      "\(failure); role \(role) has statement_timeout = \(limit): "
        + "alter role \(role) set statement_timeout = '10s'")
  }

  private func releaseOrLog(_ rides: [RideClaim]) async {
    if rides.isEmpty { return }
    do {
      try await release(rides, over: claims, timeout: .seconds(2))
    } catch {
      log(.warning, .releaseFailed, ["rides": rides.count, "error": "\(error)"])
    }
  }

  /// Leaves unreadable rides leased to this node until their lease ends, so that they are not
  /// claimed again at once.
  ///
  /// Another node, of another version, may be able to read them. After several attempts they are
  /// parked, and at once if no node can.
  private func deferUnreadable(_ rides: [(claim: RideClaim, ride: UnreadableRide)]) async {
    if rides.isEmpty { return }
    let unread = rides.map { claim, ride in
      (claim: claim, reason: Self.clipped(ride.reason), isFinal: ride.isFinal)
    }
    do {
      let parked = try await run(
        claims,
        [
          Call(SettleStatements.writeSettings),
          Call(LeaseStatements.leaveUnread, LeaseStatements.unread.arrays(unread)),
        ])[1]
      logParked(parked, .rideParkedByReading)
    } catch {
      log(.warning, .unreadableRidesLeft, ["rides": rides.count, "error": "\(error)"])
    }
  }

  /// Shortens a reason to the length of its column.
  static func clipped(_ reason: String) -> String {
    reason.brief(bytes: 500)
  }

  /// Starts a sweep below the start of claims, if a full scan takes too long for a claim.
  private func sweep(at began: Duration) {
    guard let bounds = lowWaterMark.withLock({ $0.beginSweep(at: began) }) else { return }
    Task {
      let calls = [
        Call(ClaimStatements.lookups),
        Call(
          ClaimStatements.belowMark,
          [String(bounds.event ?? .min), bounds.due.map { String($0.microseconds) }]),
      ]
      let run = sweeping ?? { [claims] in try await claims.run($0, timeout: $1) }
      let rows = try? await run(calls, .seconds(60))
      let late = rows.map { rows in
        LowWaterMark.Bounds(
          event: rows[1].int64(0, 0),
          due: rows[1].int64(0, 1).map { Timestamp(microseconds: $0) })
      }
      let ended = uptime
      lowWaterMark.withLock { $0.endSweep(late, began: began, ended: ended) }
      if let late, late != LowWaterMark.Bounds() { onLate() }
    }
  }
}
