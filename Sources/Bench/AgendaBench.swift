import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// Measures the cost of a due ride among ten thousand and among a million live ones, and the cost
/// of an idle service.
struct AgendaBench: DatabaseBench {
  let database: BenchDatabase
  private let simulator: LocalSimulator
  /// The number of rides that are due in each measurement.
  private let due = 20_000

  init() async throws {
    // A million rides and their indexes fit into memory, as in production.
    database = try await BenchDatabase(options: ["shared_buffers=1GB"])
    simulator = try LocalSimulator(directory: database.cluster.directory + "/apns")
  }

  func end() async {
    simulator.stop()
    await database.end()
  }

  func run() async throws -> [Figure] {
    // The service adopts its rules before there is any ride.
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    try service.waitUntilServing()
    while try await !isAdopted() { try await Task.sleep(for: .milliseconds(20)) }
    service.stop()
    let group = "agenda: live rides with 20-minute heartbeats, \(due) of them due"
    var figures: [Figure] = []
    var costs: [Double] = []
    var live = 0
    for count in [20_000, 100_000, 1_000_000] {
      try await add(from: live + 1, to: count)
      live = count
      let handled = try await handleDue(among: count)
      costs.append(handled.cpu)
      figures += [
        .cpu(group, "among \(count): time a ride", handled.wall),
        .cpu(group, "among \(count): Postgres, CPU a ride", handled.cpu),
        .plain(group, "among \(count): buffers a ride", handled.buffers),
        .plain(group, "among \(count): WAL, bytes a ride", handled.log, digits: 0),
      ]
    }
    figures.append(
      .plain(
        group, "a million ÷ twenty thousand, Postgres", costs[costs.count - 1] / costs[0],
        digits: 2, goal: "flat"))
    return try await figures + idle()
  }

  /// Adds rides that were entered long ago, with heartbeats in the next twenty minutes.
  private func add(from first: Int, to last: Int) async throws {
    try await session.script(
      """
      set ridepulse.silent = 'on';
      insert into ridepulse.rides (id, state, driver_id)
      select 'ride-' || n, 'driver_en_route', 'driver-' || n from generate_series(\(first), \(last)) n;
      delete from ridepulse.events;
      reset ridepulse.silent;
      insert into ridepulse.agenda (ride_id, due_at, memo, fence, leased_until)
      select 'ride-' || n, now() + interval '30 minutes' + random() * interval '20 minutes',
        \(SQLText.literal(settledMemo()))::jsonb, 0, '-infinity'
      from generate_series(\(first), \(last)) n order by random()
      """,
      timeout: .seconds(300))
    for table in ["rides", "agenda", "events"] {
      try await session.script("vacuum analyze ridepulse.\(table)", timeout: .seconds(300))
    }
    try await session.script("checkpoint", timeout: .seconds(120))
  }

  /// Returns what a decision leaves in the memo of a ride that enters its state now.
  private func settledMemo() -> String {
    let now = Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970))
    var ride = Ride(id: RideID("ride"), state: "driver_en_route")
    ride.updatedAt = now
    let decision = decide(
      RideView(rideID: ride.id, ride: ride), by: configuration, now: now)
    return decision.settled([], now: now) { 0.5 }.memo.storedText
  }

  /// What a due ride costs.
  private struct Handled {
    /// Microseconds.
    var (cpu, wall) = (0.0, 0.0)
    /// Pages that Postgres looked at.
    var buffers = 0.0
    /// Bytes of WAL.
    var log = 0.0
  }

  /// Claims due rides as the engine does, decides and settles them.
  private func handleDue(among count: Int) async throws -> Handled {
    try await session.script(
      """
      update ridepulse.agenda set due_at = now() - random() * interval '1 minute'
      where ride_id in (select 'ride-' || (1 + (n::bigint * 7919) % \(count))
                        from generate_series(1, \(due)) n)
      """, timeout: .seconds(120))
    let sessions = [
      try PostgresSession(conninfo: cluster.url()), try PostgresSession(conninfo: cluster.url()),
    ]
    let store = PostgresRideStore(
      node: UUID().uuidString.lowercased(), host: "bench", apps: [.customer, .driver],
      rules: configuration.rules, lease: .seconds(600), claims: sessions[0],
      settlements: sessions[1],
      log: Log { _, _, _ in })
    // The first batch includes planning, and is not counted.
    _ = try await handle(store)
    let postmaster = try cluster.postmasterID()
    let start = Date()
    let used = try await used()
    let before = ProcessCost.cpuSecondsOfTree(postmaster)
    var (rides, empty) = (0, 0)
    while true {
      let handled = try await handle(store)
      if handled.isLast { break }
      rides += handled.rides
      empty = handled.rides == 0 ? empty + 1 : 0
      if empty == 100 { throw BenchFailure(text: "a ride is due, and no claim returns it") }
    }
    let cpu = ProcessCost.cpuSecondsOfTree(postmaster) - before
    let wall = Date().timeIntervalSince(start)
    // A session reports what it used when it ends.
    for session in sessions { await session.close() }
    try await Task.sleep(for: .milliseconds(500))
    let more = try await self.used()
    guard rides > due / 2 else { throw BenchFailure(text: "only \(rides) rides were claimed") }
    let each = { (value: Double) in value / Double(rides) }
    return Handled(
      cpu: each(cpu * 1e6), wall: each(wall * 1e6), buffers: each(more.buffers - used.buffers),
      log: each(more.log - used.log))
  }

  private static let usage = Statement(
    name: "bench_usage",
    sql: """
      select blks_hit + blks_read, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint
      from pg_stat_database where datname = current_database()
      """)

  private func used() async throws -> (buffers: Double, log: Double) {
    let row = try await session.run([Call(Self.usage)])[0]
    return (Double(row.int64(0, 0) ?? 0), Double(row.int64(0, 1) ?? 0))
  }

  /// Returns the number of rides, and whether none is due: a claim may also find that it has to begin
  /// again.
  private func handle(_ store: PostgresRideStore) async throws -> (rides: Int, isLast: Bool) {
    let claim = try await store.claim(limit: 500, asleep: false)
    _ = try await store.settle(
      claim.rides.map { claimed in
        let decision = decide(claimed.view, by: configuration, now: claim.now)
        return ClaimedSettlement(
          claim: claimed.claim, settlement: decision.settled([], now: claim.now) { 0.5 })
      })
    let isDue = claim.released > 0 || claim.nextDue.map { $0 <= claim.now } ?? false
    return (claim.rides.count, claim.rides.isEmpty && !isDue)
  }

  /// The heartbeat rule of `schedules/`; no driver has a registered phone here.
  private var configuration: EngineConfiguration {
    let rule = Rule(
      name: "driver-heartbeat", app: .driver,
      when: .at(Timing(.every(.seconds(1200)), while: ["driver_en_route"])), what: .background,
      expires: .after(.seconds(300)), source: "bench")
    let rules = RuleSet(
      activeStates: ["driver_en_route"], finalStates: [], events: [], rules: [rule])
    return EngineConfiguration(rules: rules, bundleIDs: [:])
  }

  /// Measures a service with a million live rides, none of them due.
  private func idle() async throws -> [Figure] {
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    defer { service.stop() }
    try service.waitUntilServing()
    // Postgres counts a transaction up to ten seconds late; those of the start must not be counted
    // as idle ones.
    try await Task.sleep(for: .seconds(13))
    let seconds = 20.0
    let cpu = ProcessCost.cpuSeconds(service.processID)
    let transactions = try await transactions()
    try await Task.sleep(for: .seconds(seconds))
    let group = "idle service, a million live rides"
    let more = Double(try await self.transactions() - transactions - 1)
    let used = ProcessCost.cpuSeconds(service.processID) - cpu
    return [
      .plain(group, "transactions a second", more / seconds, digits: 2, goal: "at most 1"),
      .plain(group, "% of a core", used / seconds * 100, digits: 2, goal: "under 1"),
      .plain(group, "resident MiB", ProcessCost.residentMiB(service.processID)),
    ]
  }

  private static let adopted = Statement(
    name: "bench_adopted", sql: "select exists (select from ridepulse.timing)")
  private static let committed = Statement(
    name: "bench_committed",
    sql: """
      select xact_commit + xact_rollback from pg_stat_database where datname = current_database()
      """)

  private func isAdopted() async throws -> Bool {
    try await session.run([Call(Self.adopted)])[0].bool(0, 0) ?? false
  }

  private func transactions() async throws -> Int64 {
    try await session.run([Call(Self.committed)])[0].int64(0, 0) ?? 0
  }
}
