import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests a failover to an asynchronous standby that lacks the last commits, with pushes in flight.
@Suite("Failover", .timeLimit(.minutes(60))) struct FailoverTests {
  private static let rides = 300

  /// Ends the standby's replication: what is committed from now on is lost in the failover.
  private func detach(_ standby: PostgresSession, from stage: Stage) async throws {
    let position = try await stage.value("select pg_current_wal_lsn()") ?? ""
    try await wait(until: "the standby has everything") {
      try await value("select pg_last_wal_replay_lsn() >= '\(position)'", standby) == "t"
    }
    for sql in ["alter system set primary_conninfo = ''", "select pg_reload_conf()"] {
      _ = try await standby.run([Call(Statement(name: "", sql: sql))])
    }
    try await wait(until: "the standby receives nothing") {
      try await value("select count(*) from pg_stat_wal_receiver", standby) == "0"
    }
  }

  private func value(_ sql: String, _ session: PostgresSession) async throws -> String? {
    try await session.run([Call(Statement(name: "", sql: sql))])[0].string(0, 0)
  }

  private func fences(_ session: PostgresSession) async throws -> Set<String> {
    let rows = try await session.run([
      Call(Statement(name: "", sql: "select fence from ridepulse.agenda where node is not null"))
    ])[0]
    return Set((0..<rows.rowCount).compactMap { rows.string($0, 0) })
  }

  /// Waits until every ride has been claimed; returns the fences.
  private func fencesOfAll(_ session: PostgresSession) async throws -> Set<String> {
    var all: Set<String> = []
    try await wait(until: "the node has claimed all rides; it has \(all.count)") {
      all.formUnion(try await fences(session))
      return all.count >= Self.rides
    }
    return all
  }

  private func emit(_ event: String) -> String {
    "select ridepulse.emit('\(event)', 'r' || n) from generate_series(1, \(Self.rides)) n"
  }

  @Test func `R107: after a promotion no old claim matches, though fences are given twice`()
    async throws
  {
    let primary = try await LocalCluster(durability: .real)
    try await Stage.run(cluster: primary) { stage in
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, \(Self.rides)) n;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'driver_en_route', 'c' || n from generate_series(1, \(Self.rides)) n;
        delete from ridepulse.events
        """)
      let standby = try await LocalCluster(standbyOf: primary)
      let name = stage.conninfo.split(separator: "=").last.map(String.init) ?? ""
      let url =
        "host=\(primary.directory),\(standby.directory) port=5432 user=postgres dbname=\(name)"
      let (server, client) = try await APIClient.serve(
        stage.environment.merging(["DATABASE_URL": url]) { $1 })
      let promoted = try PostgresSession(conninfo: standby.url(database: name))
      // The rules are new to the database, so the node looks at every ride once.
      try await stage.until(
        "select count(*) from ridepulse.agenda where node is null and (due_at > now()) is not false",
        is: "\(Self.rides)")
      try await detach(promoted, from: stage)
      // Slow answers: the claims outlive the failover.
      try stage.faults(#"[{"match": {}, "action": {"delay_ms": 4000}}]"#)
      try await stage.sql(emit("driver_nearby"))
      let old = try await fencesOfAll(stage.session)
      try await wait(until: "a push is in flight") {
        try client.get("/metrics").text.contains(/ridepulse_pushes_in_flight\{.*\} [1-9]/)
      }
      await primary.kill()
      _ = try await value("select pg_promote()", promoted)
      _ = try await promoted.run([Call(Statement(name: "", sql: emit("waiting_fee_started")))])
      let new = try await fencesOfAll(promoted)
      let twice = old.intersection(new).count
      print("R107: \(twice) of \(Self.rides) fences given twice")
      #expect(twice > 0)
      try stage.faults("[]")
      let accepted = "select count(*) from ridepulse.deliveries where status = 'accepted'"
      try await wait(until: "all pushes are accepted") {
        try await value(accepted, promoted) == "\(Self.rides)"
      }
      let verdicts = try await value(
        """
        select string_agg(distinct event || ' ' || status, ', ') || ' ' || count(*)
        from ridepulse.deliveries where event = 'driver_nearby' or status = 'accepted'
        """, promoted)
      #expect(verdicts == "waiting_fee_started accepted \(Self.rides)")
      try await check(server, client, url, stage)
      #expect(server.stop() == 0)
      await promoted.close()
      await standby.stop()
    }
    await primary.stop()
  }

  /// Expects that log, metrics and doctor name the failover.
  private func check(
    _ server: Server, _ client: APIClient, _ url: String, _ stage: Stage
  ) async throws {
    try await server.waitForLog("Postgres failed over timeline=2 before=1")
    // The answers of before the failover take their time.
    try await server.waitForLog("Leases lost before settling")
    let metrics = try client.get("/metrics").text
    #expect(metrics.contains("ridepulse_postgres_timeline 2\n"))
    #expect(metrics.contains("ridepulse_postgres_failovers_total 1\n"))
    let doctor = try Command.ridepulse(
      ["doctor"], stage.environment.merging(["DATABASE_URL": url]) { $1 })
    #expect(doctor.output.contains("timeline 2"), "\(doctor.output)")
  }

  @Test func `R107: doctor warns of a standby that may lack the last commits`() async throws {
    let primary = try await LocalCluster()
    try await Stage.run(cluster: primary) { stage in
      let standby = try await LocalCluster(standbyOf: primary)
      try await stage.until("select count(*) from pg_stat_replication", is: "1")
      let result = try Command.ridepulse(["doctor"], stage.environment)
      #expect(result.output.contains("1 standby, and synchronous_standby_names is empty"))
      await standby.stop()
    }
    await primary.stop()
  }
}
