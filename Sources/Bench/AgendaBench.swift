import Foundation
import LocalPostgres
import PostgresStore
import RideCore

/// What a due ride costs among ten thousand live ones and among a million, and what a service costs
/// that has nothing to do.
struct AgendaBench: ServerBench {
  let cluster: LocalCluster
  private let session: PostgresSession
  private let simulator: LocalSimulator
  /// How many rides are due in each measurement.
  private let due = 20_000

  init() async throws {
    cluster = try await LocalCluster(durability: .real)
    session = try PostgresSession(conninfo: cluster.url())
    simulator = try LocalSimulator(directory: cluster.directory + "/apns")
    _ = try await Migrations.apply(session: session)
  }

  func end() async {
    simulator.stop()
    await session.close()
    await cluster.stop()
  }

  func run() async throws {
    Figures.head("agenda: live rides with 20-minute heartbeats, \(due) of them due")
    var costs: [Double] = []
    var live = 0
    for count in [20_000, 100_000, 1_000_000] {
      try await add(from: live + 1, to: count)
      live = count
      let (cpu, wall) = try await claimDue(among: count)
      costs.append(cpu)
      Figures.row(
        "of \(count): µs a claimed ride, Postgres / wall",
        "\(Figures.number(cpu)) / \(Figures.number(wall))")
    }
    Figures.row(
      "a million ÷ twenty thousand, Postgres",
      Figures.number(costs[costs.count - 1] / costs[0], 2), goal: "flat")
    try await idle()
  }

  /// Rides that were entered long ago, and beat in the next twenty minutes.
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
        jsonb_build_object('slots', jsonb_build_object('driver-heartbeat', jsonb_build_object(
          'anchor', (extract(epoch from now()) * 1000000)::bigint,
          'through', (extract(epoch from now()) * 1000000)::bigint))), 0, '-infinity'
      from generate_series(\(first), \(last)) n order by random()
      """,
      timeout: .seconds(300))
    for table in ["rides", "agenda", "events"] {
      try await session.script("vacuum analyze ridepulse.\(table)", timeout: .seconds(300))
    }
    try await session.script("checkpoint", timeout: .seconds(120))
  }

  /// Claims what is due as the engine does, and lets it go; microseconds a ride.
  private func claimDue(among count: Int) async throws -> (cpu: Double, wall: Double) {
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
      lease: .seconds(600), claims: sessions[0], settlements: sessions[1], log: Log { _, _, _ in })
    let postmaster = try cluster.postmasterID()
    // The first claim plans, and is not counted.
    var claimed = [try await store.claim(limit: 500, asleep: false)]
    let start = Date()
    let before = ProcessCost.cpuSecondsOfTree(postmaster)
    var rides = 0
    while let last = claimed.last, !last.rides.isEmpty {
      claimed = [try await store.claim(limit: 500, asleep: false)]
      rides += claimed[0].rides.count
    }
    let cpu = ProcessCost.cpuSecondsOfTree(postmaster) - before
    let wall = Date().timeIntervalSince(start)
    for session in sessions { await session.close() }
    try await session.script(
      """
      update ridepulse.agenda set node = null, leased_until = '-infinity',
        due_at = now() + interval '30 minutes' where leased_until > now()
      """, timeout: .seconds(120))
    try await session.script("vacuum ridepulse.agenda", timeout: .seconds(120))
    guard rides > due / 2 else { throw LocalFailure(text: "only \(rides) rides were claimed") }
    return (cpu / Double(rides) * 1e6, wall / Double(rides) * 1e6)
  }

  /// A service with a million live rides of which none is due.
  private func idle() async throws {
    try await session.script(
      "insert into ridepulse.timing (rules) values ('') on conflict do nothing")
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    defer { service.stop() }
    try service.waitUntilServing()
    // It looks at every live ride once where its rules are new to the database.
    while try await isBusy() { try await Task.sleep(for: .milliseconds(200)) }
    try await Task.sleep(for: .seconds(3))
    let seconds = 20.0
    let cpu = ProcessCost.cpuSeconds(service.processID)
    let transactions = try await transactions()
    try await Task.sleep(for: .seconds(seconds))
    Figures.head("idle service, a million live rides")
    Figures.row(
      "transactions a second",
      Figures.number(Double(try await self.transactions() - transactions - 1) / seconds, 2),
      goal: "at most 1")
    Figures.row(
      "% of a core",
      Figures.number((ProcessCost.cpuSeconds(service.processID) - cpu) / seconds * 100, 2),
      goal: "under 1")
    Figures.row("resident MiB", Figures.number(ProcessCost.residentMiB(service.processID)))
  }

  private static let due = Statement(
    name: "bench_due",
    sql: """
      select exists (select from ridepulse.agenda
        where due_at <= now() + interval '10 seconds' or leased_until > now())
      """)
  private static let committed = Statement(
    name: "bench_committed",
    sql: """
      select xact_commit + xact_rollback from pg_stat_database where datname = current_database()
      """)

  private func isBusy() async throws -> Bool {
    try await session.run([Call(Self.due)], timeout: .seconds(60))[0].bool(0, 0) ?? false
  }

  private func transactions() async throws -> Int64 {
    try await session.run([Call(Self.committed)])[0].int64(0, 0) ?? 0
  }
}
