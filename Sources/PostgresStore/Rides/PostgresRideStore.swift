public import RideCore
import Synchronization

/// The rides, events, phones, agenda and ledger in Postgres.
///
/// One session claims and reads, another settles, so that neither waits for the other, and a third
/// may listen. A claim is two round trips and a settlement one, for any number of rides.
public final class PostgresRideStore: RideStore {
  private let node: String
  private let host: String
  private let apps: [App]
  private let reading: Mutex<RideReading>
  private let horizon = Mutex(Horizon())
  private let start = ContinuousClock.now
  private let lease: Duration
  private let claims: PostgresSession
  let settlements: PostgresSession
  private let listener: WakeListener?
  private let sweeping: (@Sendable () throws -> PostgresSession)?
  private let log: Log

  /// A store over open sessions, which it does not close.
  ///
  /// - Parameters:
  ///   - node: A UUID that no other process uses, ever: leases are held under it.
  ///   - host: What people call the machine that this process runs on.
  ///   - apps: The apps whose phones rules may speak to.
  ///   - rules: What decisions go by.
  ///   - lease: How long a claimed ride is this node's own.
  ///   - listener: What wakes the node where it sleeps; without it producers are told that the node
  ///     never does.
  ///   - sweeping: Opens a session for a look that takes too long for a claim; it is closed again.
  ///     Without it the claims' own takes the time.
  public init(
    node: String, host: String, apps: [App], rules: RuleSet, lease: Duration,
    claims: PostgresSession, settlements: PostgresSession, listener: WakeListener? = nil,
    sweeping: (@Sendable () throws -> PostgresSession)? = nil, log: Log
  ) {
    self.node = node
    self.host = host
    self.apps = apps
    reading = Mutex(RideReading(apps: apps, rules: rules))
    self.lease = lease
    self.claims = claims
    self.settlements = settlements
    self.listener = listener
    self.sweeping = sweeping
    self.log = log
  }

  /// Makes every live ride due, once, where rules that speak by the clock have changed.
  ///
  /// - Throws: `PostgresError`; the same rules may be given again.
  public func adopt(_ rules: RuleSet) async throws -> Int {
    reading.withLock { $0 = RideReading(apps: apps, rules: rules) }
    let digest = rules.timingDigest
    let known = try await settlements.run([Call(TimingStatements.known)])
    if known[0].string(0, 0) ?? "" == digest { return 0 }
    let active = PostgresArray.literal(rules.activeStates.sorted())
    var count = 0
    var last: String? = ""
    while let from = last {
      let page = try await settlements.run([Call(TimingStatements.adopt, [from, active])])
      last = page[0].string(0, 0)
      count += Int(page[0].int64(0, 1) ?? 0)
    }
    _ = try await settlements.run([Call(TimingStatements.remember, [digest])])
    return count
  }

  /// Takes rides that are due and reads what a decision looks at.
  ///
  /// - Throws: `PostgresError`. Rides that were taken before the failure fall due again when their
  ///   lease ends.
  public func claim(limit: Int, asleep: Bool) async throws -> Claim {
    let began = ContinuousClock.now - start
    sweep(at: began)
    let look = horizon.withLock { $0.look(at: began) }
    // A NOTIFY that this node can't hear would cost producers something for nothing.
    let isAsleep = asleep && listener?.isHealthy ?? false
    let calls = [
      Call(ClaimStatements.lookups),
      Call(
        ClaimStatements.claim,
        [
          node, host, isAsleep ? "t" : "f", String(limit), String(lease.microseconds / 1000),
          String(look.bounds.event ?? .min), look.bounds.due.map { String($0.microseconds) },
          look.marks ? "t" : "f",
        ]),
    ]
    let results = try await claims.run(calls)
    let ended = ContinuousClock.now - start
    if asleep, let listener {
      // Beside the claim: whatever becomes of it, the claim stands.
      Task { [claims] in _ = try? await listener.check(through: claims) }
    }
    var reader = ClaimReader(log: log)
    reader.readClaims(results[1])
    if !reader.claims.isEmpty {
      try await read(&reader)
    }
    horizon.withLock { $0.saw(reader.sight, by: look, began: began, ended: ended) }
    let unreadable = reader.unreadable
    if unreadable.isEmpty { return reader.claim }
    try await leave(unreadable)
    var claim = reader.claim
    claim.rides.removeAll { ride in unreadable.contains { $0.claim == ride.claim } }
    return claim
  }

  /// Rides that can't be read stay with this node until their lease ends, lest they come back at
  /// once; another node, of another version, may be able to. In the end they are parked.
  private func leave(_ rides: [(claim: RideClaim, reason: String)]) async throws {
    let parked = try await claims.run([
      Call(
        SettleStatements.leaveUnread,
        [
          node, PostgresArray.literal(rides.map(\.claim.rideID)),
          PostgresArray.literal(rides.map { String($0.claim.fence) }),
          PostgresArray.literal(rides.map { $0.reason.brief(bytes: 500) }),
        ])
    ])[0]
    for row in 0..<parked.rowCount {
      log(
        .error, "A ride is parked: it can't be read; mend that and call ridepulse.unpark",
        ["ride": parked.string(row, 0) ?? "", "reason": parked.string(row, 1) ?? ""])
    }
  }

  /// Looks below where claims begin, where that takes too long for a claim.
  private func sweep(at began: Duration) {
    guard let bounds = horizon.withLock({ $0.beginSweep(at: began) }) else { return }
    Task {
      let session = try? sweeping?()
      let rows = try? await (session ?? claims).run(
        [
          Call(ClaimStatements.lookups),
          Call(
            ClaimStatements.late,
            [String(bounds.event ?? .min), bounds.due.map { String($0.microseconds) }]),
        ], timeout: .seconds(60))
      await session?.close()
      let late = rows.map { rows in
        Horizon.Bounds(
          event: rows[1].int64(0, 0),
          due: rows[1].int64(0, 1).map { Instant(microseconds: $0) })
      }
      let ended = ContinuousClock.now - start
      horizon.withLock { $0.endSweep(late, began: began, ended: ended) }
    }
  }

  private func read(_ reader: inout ClaimReader) async throws {
    let reads = reading.withLock { $0 }.reads(reader)
    // One snapshot: whom the ride names now, and whom its events named, belong together.
    let results = try await claims.run(
      [Call(RideSnapshot.begin), Call(ClaimStatements.lookups)] + reads.map(\.call)
        + [Call(RideSnapshot.commit)])
    for (read, rows) in zip(reads, results.dropFirst(2)) { read.take(&reader.rows, rows) }
  }

  /// Writes down what claimed rides are about to do, and keeps them.
  ///
  /// - Returns: The rides whose lease has ended or gone to another node.
  /// - Throws: `PostgresError`; the same may be written again.
  public func journal(_ memos: [ClaimedMemo]) async throws -> [RideID] {
    let results = try await claims.run([
      Call(
        SettleStatements.journal,
        [
          node, PostgresArray.literal(memos.map(\.claim.rideID)),
          PostgresArray.literal(memos.map { String($0.claim.fence) }),
          PostgresArray.literal(memos.map { SettleParameters.json($0.memo) }),
        ])
    ])
    return Self.missing(from: results[0], of: memos.map(\.claim))
  }

  /// Writes what became of claimed rides and lets them go.
  ///
  /// - Returns: The rides whose lease had gone to another node, or that were settled before.
  /// - Throws: `PostgresError`; the same settlements may be given again. `RefusedSettlement` where
  ///   that is of no use.
  public func settle(_ batch: [ClaimedSettlement]) async throws -> [RideID] {
    let results: [QueryResult]
    do {
      results = try await settlements.run([
        Call(SettleStatements.sets),
        Call(SettleStatements.settle, SettleParameters(node: node, batch).texts),
      ])
    } catch {
      guard let server = error.server, server.isOfValues else { throw error }
      throw RefusedSettlement("\(server.message) (SQLSTATE \(server.sqlState))")
    }
    return Self.missing(from: results[1], of: batch.map(\.claim))
  }

  private static func missing(from rows: QueryResult, of claims: [RideClaim]) -> [RideID] {
    var missing = Set(claims.map(\.rideID))
    for row in 0..<rows.rowCount {
      if let ride = rows.string(row, 0) { missing.remove(RideID(ride)) }
    }
    return missing.sorted()
  }

  /// Sets a ride aside until `ridepulse.unpark` is called for it.
  public func park(_ ride: RideClaim, reason: String) async throws {
    _ = try await settlements.run([
      Call(SettleStatements.park, [node, ride.rideID.text, String(ride.fence), reason])
    ])
  }

  /// Lets claimed rides go untouched.
  public func release(_ rides: [RideClaim]) async throws {
    _ = try await settlements.run([
      Call(
        SettleStatements.release,
        [
          node, PostgresArray.literal(rides.map(\.rideID)),
          PostgresArray.literal(rides.map { String($0.fence) }),
        ])
    ])
  }

  /// Says that this node looks no more.
  public func leave() async throws {
    _ = try await settlements.run([Call(SettleStatements.leave, [node])])
  }
}
