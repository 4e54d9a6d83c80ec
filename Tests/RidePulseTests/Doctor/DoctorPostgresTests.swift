import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("The doctor's checks of Postgres", .timeLimit(.minutes(60))) struct DoctorPostgresTests {
  @Test func `An older schema, and a newer one`() async throws {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let session = try PostgresSession(conninfo: conninfo)
    _ = try await Migrations.apply(session: session, steps: Array(Migrations.all.prefix(4)))
    let environment = DoctorTests.nowhere.merging(["DATABASE_URL": conninfo]) { $1 }
    let old = try Checkup(environment)
    old.expect("schema", "failure", "it lacks 0005_retention, 0006_record")
    old.expect("schema", "failure", "ridepulse migrate")
    _ = try await Migrations.apply(session: session)
    try Checkup(environment).expect("schema", "ok")
    try await session.script(
      "insert into ridepulse.migrations (number, name, checksum) values (99999, '99999_x', '')")
    try Checkup(environment).expect("schema", "ok", "newer than this program, which works with it")
    await session.close()
  }

  @Test func `The rights that the doctor names are enough for serve`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.addRide()
      let role = "poor_\(UUID().uuidString.prefix(8).lowercased())"
      try await stage.sql("create role \(role) login")
      let environment = stage.environment.merging([
        "DATABASE_URL": stage.conninfo.replacing("user=postgres", with: "user=\(role)")
      ]) { $1 }
      let poor = try Checkup(environment)
      poor.expect("rights", "failure", "role \(role) lacks usage on schema ridepulse")
      poor.expect("schema", "skipped", "needs rights")
      poor.expect("phones", "skipped", "needs schema and rights")
      let remedy = try #require(poor.checks.first { $0.name == "rights" }?.remedy.first)
      let grants = try #require(remedy.components(separatedBy: "psql -c '").last?.dropLast())
      try await stage.sql(String(grants))
      let rich = try Checkup(environment)
      rich.expect("rights", "ok")
      rich.expect("schema", "ok")
      try await stage.sql(
        "update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      let served = try Command.ridepulse(["serve", "--once"], environment)
      #expect(served.status == 0 && !served.errors.contains("permission denied"), "\(served)")
      let accepted = "select count(*) from ridepulse.ledger where status = 'accepted'"
      #expect(try await stage.value(accepted) != "0", "\(served)")
      // Rotation keeps the ledger small, but no push depends on it.
      try await stage.sql("revoke execute on function ridepulse.rotate_ledger from \(role)")
      try Checkup(environment).expect("rights", "warning", "rotate_ledger")
      try await stage.sql("drop owned by \(role); drop role \(role)")
    }
  }

  @Test func `No schema, and a role that cannot create one`() async throws {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let session = try PostgresSession(conninfo: conninfo)
    let role = "maker_\(UUID().uuidString.prefix(8).lowercased())"
    try await session.script("create role \(role) login")
    let environment = DoctorTests.nowhere.merging([
      "DATABASE_URL": conninfo.replacing("user=postgres", with: "user=\(role)")
    ]) { $1 }
    let checkup = try Checkup(environment)
    checkup.expect("schema", "failure", "grant create on database")
    checkup.expect("rights", "skipped", "needs schema")
    try await session.script("drop role \(role)")
    await session.close()
  }

  @Test func `R35: it detects a pooler that drops LISTEN`() async throws {
    let cluster = try await LocalCluster.shared()
    let name = String(try await cluster.freshDatabase().split(separator: "=").last ?? "")
    for (mode, standing) in [(LocalPgBouncer.PoolMode.transaction, "warning"), (.session, "ok")] {
      let pooler = try await LocalPgBouncer(before: cluster, mode: mode)
      let checkup = try Checkup(
        DoctorTests.nowhere.merging(["DATABASE_URL": pooler.url(database: name)]) { $1 })
      checkup.expect("postgres", "ok", "database \(name)")
      checkup.expect("listen", standing, mode == .session ? "came back" : "pool in session mode")
      await pooler.stop()
    }
  }

  @Test func `A missing database, a missing role, and a standby`() async throws {
    let cluster = try await LocalCluster.shared()
    let conninfo = try await cluster.freshDatabase()
    let wrong = [
      (cluster.url(database: "nobodys"), "createdb DATABASE"),
      (conninfo.replacing("user=postgres", with: "user=nobody_known"), "fix user and password"),
      ("host=127.0.0.1 port=1", "start Postgres"),
      ("nonsense", "export DATABASE_URL="),
      ("\(conninfo) options='-c default_transaction_read_only=on'", "target_session_attrs"),
    ]
    for (conninfo, remedy) in wrong {
      try Checkup(DoctorTests.nowhere.merging(["DATABASE_URL": conninfo]) { $1 })
        .expect("postgres", "failure", remedy)
    }
  }

  @Test func `The backend that holds rows back is named`() async throws {
    let cluster = try await LocalCluster.shared()
    let conninfo = try await cluster.freshDatabase()
    let holder = try PostgresSession(conninfo: conninfo, applicationName: "a report")
    try await holder.script("create table t (n int)")
    async let held: Void = holder.script(
      "begin; insert into t values (1); select pg_sleep(600)", timeout: .seconds(600))
    let watch = try PostgresSession(conninfo: conninfo)
    try await wait(until: "the report holds rows back") {
      try await BlockingBackend.oldest(watch)?.name == "a report"
    }
    try Checkup(DoctorTests.nowhere.merging(["DATABASE_URL": conninfo]) { $1 })
      .expect("dead rows", "ok", "(a report) prevents their removal")
    try await watch.script(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'a report' and datname = current_database()
      """)
    try? await held
    await holder.close()
    await watch.close()
  }
}
