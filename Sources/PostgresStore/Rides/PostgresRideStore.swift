package import Base
package import RideCore
import Synchronization

/// The store of rides, events, phones, the agenda and the ledger in PostgreSQL.
///
/// One session claims and reads and another settles, so that neither waits for the other; a third
/// may listen. A claim takes three round trips and a settlement one, for any number of rides.
package final class PostgresRideStore: RideStore {
  let node: String
  let host: String
  private let sender: Mutex<Sender>
  let identityMonitor = Mutex(DatabaseIdentityMonitor())
  let reading: Mutex<RideReading>
  let lowWaterMark = Mutex(LowWaterMark())
  /// Whether the last claim of any ride could not read it.
  let readsFail = Mutex(false)
  private let start = ContinuousClock.now
  let lease: Duration
  let claims: PostgresSession
  let settlements: PostgresSession
  let listener: WakeListener?
  let sweeping: (@Sendable ([Call], Duration) async throws -> [QueryResult])?
  let onLate: @Sendable () -> Void
  let onPauses: @Sendable (Pauses) -> Void
  let pausesRead = Mutex(PausesRead())
  private let readsTraces: Bool
  let log: Log
  /// When the last call must have ended, as uptime; nil until the node stops.
  private let end = Mutex<Duration?>(nil)
  private let adoption = Mutex(Adoption())
  /// When the plans of each session were last discarded, as uptime.
  private let planned = Mutex<[ObjectIdentifier: Duration]>([:])

  /// What the service is configured for.
  private struct Sender {
    var apps: [App]
    var pin: DatabasePin
  }

  /// The progress of rescheduling live rides.
  private struct Adoption {
    var digest: String?
    /// The last ride of the last page; nil after the end.
    var last: String? = ""
    /// The number of rides of a page: halved after each page that times out.
    var size = 5000
    /// Rides whose agenda rows other sessions had locked.
    var locked: [String] = []
    var count = 0
  }

  /// Uses open sessions, which it does not close.
  ///
  /// - Parameters:
  ///   - node: a UUID that no other process ever uses: leases are held under it.
  ///   - host: the name of the machine, for people.
  ///   - apps: the apps whose phones rules may address.
  ///   - pin: the apps as the database's pin must name them.
  ///   - rules: the rules that decide which data is read.
  ///   - lease: how long a claimed ride belongs to this node.
  ///   - listener: wakes the sleeping node; without it producers take the node for awake.
  ///   - sweeping: runs the calls of a sweep within a time limit; without it sweeps use the session
  ///     of the claims.
  ///   - onLate: called when a sweep has found something to claim; must not block.
  ///   - onPauses: called with all pauses if they have changed, before what a claim found is decided.
  ///   - readsTraces: whether claims read the traces of events.
  package init(
    node: String, host: String, apps: [App], pin: DatabasePin = .none, rules: RuleSet,
    lease: Duration,
    claims: PostgresSession, settlements: PostgresSession, listener: WakeListener? = nil,
    sweeping: (@Sendable ([Call], Duration) async throws -> [QueryResult])? = nil,
    onLate: @escaping @Sendable () -> Void = {},
    onPauses: @escaping @Sendable (Pauses) -> Void = { _ in }, readsTraces: Bool = false, log: Log
  ) {
    self.node = node
    self.host = host
    sender = Mutex(Sender(apps: apps, pin: pin))
    reading = Mutex(RideReading(apps: apps, rules: rules, traces: readsTraces))
    self.lease = lease
    self.claims = claims
    self.settlements = settlements
    self.listener = listener
    self.sweeping = sweeping
    self.onLate = onLate
    self.onPauses = onPauses
    self.readsTraces = readsTraces
    self.log = log
  }

  /// The apps as the database's pin must name them.
  var pin: DatabasePin { sender.withLock { $0.pin } }

  /// Replaces the apps whose phones rules may address; the next rules that are adopted read them.
  package func use(apps: [App], pin: DatabasePin) {
    sender.withLock { $0 = Sender(apps: apps, pin: pin) }
  }

  /// The time since this store was created.
  var uptime: Duration { ContinuousClock.now - start }

  /// Ends every call within this time.
  package func endCalls(within limit: Duration) {
    end.withLock { [uptime] end in end = min(end ?? .seconds(Int64.max >> 1), uptime + limit) }
  }

  /// Runs calls in one transaction, within the remaining time.
  ///
  /// - Throws: `StoreFailure`.
  func run(
    _ session: PostgresSession, _ calls: [Call], timeout: Duration = .seconds(10)
  ) async throws -> [QueryResult] {
    do {
      return try await send(session, calls, timeout: timeout)
    } catch let error as PostgresError {
      throw error.failure
    }
  }

  /// The same, for a caller that needs the server's error.
  ///
  /// - Throws: `PostgresError`, or `StoreFailure` if no time remains.
  func send(
    _ session: PostgresSession, _ calls: [Call], timeout: Duration = .seconds(10)
  ) async throws -> [QueryResult] {
    let left = end.withLock { $0 }.map { $0 - uptime } ?? timeout
    guard left > .zero else { throw Self.isStopping }
    let timeout = min(timeout, left)
    // Settings of a snapshot must come first in it.
    guard calls.first?.statement != RideSnapshot.begin, plansAreOld(of: session) else {
      return try await session.run(calls, timeout: timeout)
    }
    return Array(try await session.run([Call(Self.discardPlans)] + calls, timeout: timeout)[1...])
  }

  /// Forgets the plans of a connection. They are made for tables as large as they were then, and
  /// `ANALYZE`, which replaces them, may never run.
  private static let discardPlans = Statement(name: "discard_plans", sql: "discard plans")
  private static let planLifetime: Duration = .seconds(60)

  private func plansAreOld(of session: PostgresSession) -> Bool {
    planned.withLock { planned in
      let now = uptime
      guard now - planned[ObjectIdentifier(session), default: .zero] > Self.planLifetime else {
        return false
      }
      planned[ObjectIdentifier(session)] = now
      return true
    }
  }

  private static let isStopping = StoreFailure(.unavailable, "the node is stopping")

  /// Makes every live ride due once if the schedule rules have changed.
  ///
  /// - Throws: `StoreFailure`; the same rules may be given again. After a `conflict` only the rides
  ///   that were locked are tried again.
  package func adopt(_ rules: RuleSet) async throws -> Int {
    let apps = sender.withLock { $0.apps }
    reading.withLock { $0 = RideReading(apps: apps, rules: rules, traces: readsTraces) }
    let digest = rules.timingDigest
    let known = try await run(settlements, [Call(TimingStatements.known)])
    if known[0].string(0, 0) ?? "" == digest { return 0 }
    let active = PostgresArray.literal(rules.activeStates.sorted())
    var adoption = self.adoption.withLock { $0 }
    if adoption.digest != digest { adoption = Adoption(digest: digest) }
    defer { self.adoption.withLock { [adoption] in $0 = adoption } }
    while let from = adoption.last {
      // Checked for every page, so that a stop waits for one page at most.
      if end.withLock({ $0 }) != nil { throw Self.isStopping }
      do {
        adoption.last = try await adopt(
          Call(TimingStatements.adopt, [from, active, String(adoption.size)]), &adoption)
      } catch let failure as StoreFailure where failure.cause == .timeout && adoption.size > 1 {
        adoption.size /= 2
      }
    }
    if !adoption.locked.isEmpty {
      let rides = PostgresArray.literal(adoption.locked)
      _ = try await adopt(
        Call(TimingStatements.adoptRides, [rides, active]), &adoption, instead: true)
    }
    if !adoption.locked.isEmpty {
      throw StoreFailure(
        .conflict, "other sessions have locked the agenda rows of \(adoption.locked.count) rides")
    }
    _ = try await run(settlements, [Call(TimingStatements.remember, [digest])])
    defer { adoption = Adoption() }
    return adoption.count
  }

  /// - Returns: The page's last ride.
  private func adopt(
    _ page: Call, _ adoption: inout Adoption, instead: Bool = false
  ) async throws -> String? {
    let rows = try await run(settlements, [Call(SettleStatements.writeSettings), page])[1]
    adoption.count += Int(try rows.value(0, 1) as Int64)
    if instead { adoption.locked = [] }
    adoption.locked += (1..<max(1, rows.rowCount)).compactMap { rows.string($0, 2) }
    return rows.string(0, 0)
  }

  /// Removes this node from `ridepulse.nodes`.
  package func unregisterNode() async throws {
    _ = try await settlements.run(
      [Call(LeaseStatements.unregisterNode, [node])], timeout: .seconds(1))
  }
}

/// The statements that detect changed schedule rules and reschedule live rides.
enum TimingStatements {
  /// The rules that live rides were last made due for.
  static let known = Statement(name: "timing_known", sql: "select rules from ridepulse.timing")

  /// Makes one page of live rides due: $1 last ride of the previous page, $2 active states, $3
  /// limit.
  ///
  /// The first row holds the last ride of this page, null at the end, and how many rides were made
  /// due. Further rows are rides that other sessions have locked.
  static let adopt = adopt(
    "timing_adopt",
    "select id, state from ridepulse.rides where id > $1 order by id limit $3::bigint")

  /// The same for the rides $1.
  static let adoptRides = adopt(
    "timing_adopt_rides", "select id, state from ridepulse.rides where id = any ($1::text[])")

  private static func adopt(_ name: String, _ page: String) -> Statement {
    Statement(
      name: name,
      sql: """
        with page as materialized (
          \(page)
        ), live as materialized (
          select id from page where state = any ($2::text[])
        ), free as materialized (
          select a.ride_id from ridepulse.agenda a
          where a.ride_id = any (array(select id from live)) order by a.ride_id
          for update skip locked
        ), moved as (
          update ridepulse.agenda a set due_at = least(a.due_at, now())
          from free where a.ride_id = free.ride_id
          returning a.ride_id
        ), opened as (
          insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
          select id, now(), 0, '-infinity' from live l
          where not exists (select from ridepulse.agenda a where a.ride_id = l.id) order by id
          on conflict do nothing
          returning ride_id
        )
        select (select max(id) from page),
          (select count(*) from moved) + (select count(*) from opened), null
        union all
        select null, null, id from live
        where id not in (select ride_id from moved) and id not in (select ride_id from opened)
        """)
  }

  /// $1 the rules that live rides were made due for.
  static let remember = Statement(
    name: "timing_remember",
    sql: """
      insert into ridepulse.timing (rules) values ($1)
      on conflict (is_only) do update set rules = excluded.rules, adopted_at = now()
      """)
}
