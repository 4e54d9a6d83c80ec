import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// Measures the cost of a claim while an open transaction keeps Postgres from removing dead rows.
///
/// It processes as many events as 500 per second make in half an hour, but faster.
struct BloatBench: DatabaseBench {
  let database: BenchDatabase
  private let sessions: [PostgresSession]
  private let store: PostgresRideStore
  private let rides = 20_000
  private let before = 100_000
  private let meanwhile = 900_000

  init() async throws {
    database = try await BenchDatabase(options: ["shared_buffers=1GB"])
    let url = database.cluster.url()
    sessions = [try PostgresSession(conninfo: url), try PostgresSession(conninfo: url)]
    store = PostgresRideStore(
      node: UUID().uuidString.lowercased(), host: "bench", apps: [.customer, .driver],
      rules: Self.configuration.rules, lease: .seconds(600), claims: sessions[0],
      settlements: sessions[1],
      sweeping: { calls, timeout in
        let session = try PostgresSession(conninfo: url)
        defer { Task { await session.close() } }
        return try await session.run(calls, timeout: timeout)
      },
      log: Log { _, _, _ in })
  }

  func end() async {
    for session in sessions { await session.close() }
    await database.end()
  }

  func run() async throws {
    try await load()
    Figures.head("claims next to a reader in an open transaction, \(meanwhile) events")
    _ = try await flood(before / 2)
    let alone = (flood: try await flood(before), stream: try await stream())
    let sizes = try await tables()
    let reader = try Reader(cluster.url())
    defer { reader.stop() }
    try reader.waitUntilReading()
    _ = try await flood(meanwhile - before)
    let last = (flood: try await flood(before), stream: try await stream())
    row("500 events/s", alone.stream, last.stream, goal: "< 2")
    row("as many as go", alone.flood, last.flood)
    Figures.row(
      "as many as go: events/s without and with",
      "\(Figures.number(alone.flood.rate, 0)) \(Figures.number(last.flood.rate, 0))")
    for (name, size) in try await tables() {
      let old = sizes.first { $0.name == name }?.mebibytes ?? 0
      Figures.row(
        "\(name): MiB before and after", "\(Figures.number(old)) \(Figures.number(size))")
    }
  }

  private func row(_ name: String, _ alone: Times, _ last: Times, goal: String = "") {
    for percent in [50, 99, 100] {
      Figures.row(
        "\(name): p\(percent) ms without and with",
        "\(Figures.number(alone.at(percent))) \(Figures.number(last.at(percent)))")
    }
    Figures.row(
      "\(name): p99 with ÷ without", Figures.number(last.at(99) / alone.at(99), 2), goal: goal)
  }

  /// The durations of claims, in milliseconds.
  private struct Times {
    var milliseconds: [Double] = []
    var rate = 0.0

    func at(_ percent: Int) -> Double {
      let sorted = milliseconds.sorted()
      return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }
  }

  /// Handles events one batch after the other, each nine tenths of a claim; the rest is for
  /// heartbeats.
  private func flood(_ events: Int) async throws -> Times {
    var times = Times()
    let start = Date()
    for turn in 0..<(events / 450) { times.milliseconds.append(try await handle(450, turn)) }
    times.rate = Double(events) / Date().timeIntervalSince(start)
    return times
  }

  /// Handles fifty events each tenth of a second, for half a minute.
  private func stream() async throws -> Times {
    var times = Times()
    let clock = ContinuousClock()
    let start = clock.now
    for turn in 0..<300 {
      try await clock.sleep(until: start + .milliseconds(100 * turn))
      times.milliseconds.append(try await handle(50, turn))
    }
    return times
  }

  /// Emits and handles this number of events at once; returns the duration of their claim in
  /// milliseconds.
  private func handle(_ events: Int, _ turn: Int) async throws -> Double {
    let first = turn * events % (rides - events)
    try await session.script(
      """
      insert into ridepulse.events (ride_id, event, data)
      select 'ride-' || n, 'driver_nearby', '{}'
      from generate_series(\(first + 1), \(first + events)) n
      """)
    let began = Date()
    let claim = try await store.claim(limit: 500, asleep: false)
    let milliseconds = Date().timeIntervalSince(began) * 1000
    _ = try await store.settle(
      claim.rides.map { claimed in
        let decision = decide(claimed.view, by: Self.configuration, now: claim.now)
        return ClaimedSettlement(
          claim: claimed.claim,
          settlement: decision.settled(
            decision.pushes.map { _ in .accepted }, now: claim.now, jitter: { 0.5 }))
      })
    return milliseconds
  }

  private func load() async throws {
    try await session.script(
      """
      set ridepulse.silent = 'on';
      insert into ridepulse.rides (id, state, customer_id, driver_id)
      select 'ride-' || n, 'driver_en_route', 'customer-' || n, 'driver-' || n
      from generate_series(1, \(rides)) n;
      delete from ridepulse.events;
      insert into ridepulse.agenda (ride_id, due_at, memo, fence, leased_until)
      select 'ride-' || n, now() + interval '30 minutes', jsonb_build_object('slots',
        jsonb_build_object('beat', format('%s %s - -', (extract(epoch from now()
          - random() * interval '20 minutes') * 1000000)::bigint,
          (extract(epoch from now()) * 1000000)::bigint))), 0, '-infinity'
      from generate_series(1, \(rides)) n;
      select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5(n::text))
      from generate_series(1, \(rides)) n;
      reset ridepulse.silent;
      analyze;
      checkpoint;
      """, timeout: .seconds(120))
  }

  private static let tables = Statement(
    name: "bench_tables",
    sql: """
      select name, pg_total_relation_size('ridepulse.' || name) + coalesce((
        select sum(pg_total_relation_size(inhrelid)) from pg_inherits
        where inhparent = ('ridepulse.' || name)::regclass), 0)
      from unnest(array['agenda', 'events', 'ledger', 'nodes']) name
      """)

  private func tables() async throws -> [(name: String, mebibytes: Double)] {
    let rows = try await session.run([Call(Self.tables)])[0]
    return (0..<rows.rowCount).map {
      (rows.string($0, 0) ?? "", (rows.double($0, 1) ?? 0) / 0x1p20)
    }
  }

  /// Sends a push for each event, and has a heartbeat that gives each ride an agenda row.
  private static var configuration: EngineConfiguration {
    let nearby = Rule(
      name: "nearby", app: .customer, when: .on(["driver_nearby"]), what: .background,
      expires: .after(.seconds(300)), source: "bench")
    let beat = Rule(
      name: "beat", app: .driver,
      when: .at(Timing(.every(.seconds(1200)), while: ["driver_en_route"])), what: .background,
      expires: .after(.seconds(300)), source: "bench")
    let rules = RuleSet(
      activeStates: ["driver_en_route"], finalStates: [], events: ["driver_nearby"],
      rules: [nearby, beat])
    return EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example", .driver: "com.example"])
  }
}

/// A session that ran a query and left its transaction open.
private final class Reader {
  private let process: ChildProcess

  init(_ conninfo: String) throws {
    process = try ChildProcess(
      ["/usr/bin/env", "psql", "--no-psqlrc", "--tuples-only", conninfo], input: .pipe,
      output: .pipe)
    process.write(
      "begin isolation level repeatable read; select 'reading ' || count(*) from pg_class;\n")
  }

  func waitUntilReading() throws {
    try process.waitForOutput("reading")
  }

  func stop() {
    process.closeInput()
    process.waitForEndBlocking()
  }
}
