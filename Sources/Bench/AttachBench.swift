import Foundation
import LocalStack
import PostgresStore
import Synchronization

/// (f) Measures what attaching a table costs its writers: while it is attached and backfilled, and
/// at each update of a column that is not mapped.
struct AttachBench: DatabaseBench {
  let database: BenchDatabase
  private let rows = 1_000_000
  private let live = 1000
  private let offered = 200
  private let sessions = 8
  private let seconds = 20

  private static let mapping = """
    {"id": {"column": "id", "prefix": "b-"}, "state": "status", "customer_id": "rider",
     "pickup_at": "pickup", "time_zone": {"constant": "Europe/Berlin"},
     "states": {"1": "requested", "2": "driver_en_route", "9": "ride_completed"},
     "where": "deleted_at is null", "attributes": ["plate"]}
    """
  private static let active: Set = ["requested", "driver_en_route"]

  init() async throws {
    database = try await BenchDatabase()
  }

  func run() async throws {
    try await load()
    try await attachUnderLoad()
    try await updateUnmapped()
  }

  private func load() async throws {
    try await session.script(
      """
      create table bookings (id bigint primary key, status smallint, rider text,
        pickup timestamptz, plate text, lat float, lon float, heading float, seen_at timestamptz,
        deleted_at timestamptz) with (fillfactor = 80);
      insert into bookings select n, case when n % (\(rows) / \(live)) = 0 then 1 else 9 end,
        'rider-' || n, now(), 'B ' || n, 52, 13, 0, now() from generate_series(1, \(rows)) n;
      """, timeout: .seconds(300))
    try await session.script("vacuum analyze bookings", timeout: .seconds(120))
    try await session.script("checkpoint", timeout: .seconds(120))
  }

  // MARK: Writers while a table is attached

  private func attachUnderLoad() async throws {
    Figures.head("\(rows) rows attached, \(live) of them live, \(offered) transactions a second")
    let longest = LongestWait()
    let sampler = Task { try await sample(longest) }
    let before = try await write {}
    let during = try await write {
      try await Task.sleep(for: .seconds(2))
      let clock = ContinuousClock()
      let attached = try await clock.measure {
        try await session.script(
          "select ridepulse.watch('bookings', \(SQLText.literal(Self.mapping)))",
          timeout: .seconds(60))
      }
      Figures.row("ms of watch", Figures.number(attached / .milliseconds(1)))
      for number in 1...3 {
        let own = try PostgresSession(conninfo: cluster.url())
        var counts: TableBackfill.Counts?
        let took = try await clock.measure {
          counts = try await TableBackfill(own, table: "bookings", active: Self.active)
            .run(isForced: true)
        }
        await own.close()
        Figures.row(
          "ms of backfill \(number), \(counts?.inserted ?? 0) rides inserted",
          Figures.number(took / .milliseconds(1)))
      }
    }
    let after = try await write {}
    sampler.cancel()
    for (name, latencies) in [("before", before), ("during", during), ("attached", after)] {
      Figures.row("p50, p99, max ms of writers \(name)", Self.summary(latencies))
    }
    let waited = longest.value.withLock { $0 } / .milliseconds(1)
    Figures.row("longest wait for a lock, ms", Figures.number(waited), goal: "at most 100")
  }

  private static func summary(_ latencies: [Double]) -> String {
    let sorted = latencies.sorted()
    let values = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], sorted.last ?? 0]
    return values.map { Figures.number($0) }.joined(separator: ", ")
  }

  private static let change = Statement(
    name: "bench_change",
    sql: """
      update bookings set status = case status when 1 then 2 else 1 end, lat = lat + 0.001
      where id = $1::text::bigint * 1000
      """)

  /// Offers transactions at a constant rate while `body` runs; returns their latencies in
  /// milliseconds, counted from when each was due.
  private func write(while body: () async throws -> Void) async throws -> [Double] {
    let latencies = Latencies()
    let start = ContinuousClock.now + .milliseconds(100)
    let each = offered * seconds / sessions
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<sessions {
        group.addTask {
          let own = try PostgresSession(conninfo: cluster.url())
          for count in 0..<each {
            let due = start + .seconds(1) * (count * sessions + number) / offered
            try await Task.sleep(until: due)
            let id = (count * sessions + number) * 7919 % live + 1
            _ = try await own.run([Call(Self.change, ["\(id)"])])
            let latency = (ContinuousClock.now - due) / .milliseconds(1)
            latencies.values.withLock { $0.append(latency) }
          }
          await own.close()
        }
      }
      try await body()
      try await group.waitForAll()
    }
    return latencies.values.withLock { $0 }
  }

  private static let waits = Statement(
    name: "bench_waits",
    sql: """
      select (extract(epoch from max(clock_timestamp() - waitstart)) * 1000000)::bigint
      from pg_locks where not granted
      """)

  /// Samples how long lock requests have waited, every few milliseconds until it is cancelled.
  private func sample(_ longest: LongestWait) async throws {
    let own = try PostgresSession(conninfo: cluster.url())
    while !Task.isCancelled {
      let micros = try await own.run([Call(Self.waits)])[0].int64(0, 0) ?? 0
      longest.value.withLock { $0 = max($0, .microseconds(micros)) }
      try? await Task.sleep(for: .milliseconds(3))
    }
    await own.close()
  }

  private final class LongestWait: Sendable {
    let value = Mutex(Duration.zero)
  }

  private final class Latencies: Sendable {
    let values = Mutex<[Double]>([])
  }

  // MARK: Updates of columns that are not mapped

  private static let move = Statement(
    name: "bench_move",
    sql: """
      update bookings set lat = lat + 0.001, lon = lon + 0.001, heading = random(), seen_at = now()
      where id = $1::text::bigint
      """)

  /// Offers 5,000 updates a second, alternately with and without the triggers.
  private func updateUnmapped() async throws {
    Figures.head("5,000 GPS updates a second, CPU of Postgres an update, u")
    let yardstick = try Yardstick(directory: cluster.directory)
    var units: [Double] = []
    var costs: (plain: [Double], attached: [Double]) = ([], [])
    for round in 0..<11 {
      let unit = try yardstick.measure().cost
      try await session.script("select ridepulse.unwatch('bookings')", timeout: .seconds(60))
      let plain = try await moveRows()
      try await session.script(
        "select ridepulse.watch('bookings', \(SQLText.literal(Self.mapping)))",
        timeout: .seconds(60))
      let attached = try await moveRows()
      // The first round fills caches.
      if round == 0 { continue }
      costs.plain.append(plain / unit)
      costs.attached.append(attached / unit)
      units.append(unit)
    }
    let ratios = zip(costs.plain, costs.attached).map { ($1 / $0 - 1) * 100 }
    for (name, values) in [("not attached", costs.plain), ("attached", costs.attached)] {
      Figures.row("\(name), median of 10 (least–most)", Spread(values)?.text(1) ?? "")
    }
    Figures.row("cost of the triggers, %", Spread(ratios)?.text(1) ?? "", goal: "under 10")
    Figures.row("u: CPU of h2load, µs a push", Spread(units)?.text(2) ?? "")
  }

  /// Updates rows for four seconds at 5,000 a second; returns the CPU of Postgres for each.
  private func moveRows() async throws -> Double {
    let postmaster = try cluster.postmasterID()
    let each = 20_000 / 4
    let own = try (0..<4).map { _ in try PostgresSession(conninfo: cluster.url()) }
    for session in own { _ = try await session.run([Call(Self.move, ["1"])]) }
    let before = ProcessCost.cpuSecondsOfTree(postmaster)
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, session) in own.enumerated() {
        group.addTask {
          for count in stride(from: 0, to: each, by: 25) {
            try await Task.sleep(until: start + .seconds(4) * count / each)
            let calls = (0..<25).map { offset in
              Call(Self.move, ["\(((count + offset) * 4 + number) * 7919 % 1_000_000 + 1)"])
            }
            _ = try await session.run(calls, timeout: .seconds(60))
          }
        }
      }
      try await group.waitForAll()
    }
    let cost = ProcessCost.cpuSecondsOfTree(postmaster) - before
    for session in own { await session.close() }
    return cost / Double(each * 4) * 1e6
  }
}
