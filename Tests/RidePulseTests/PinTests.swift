import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests copies of a database that was served: nothing is sent from them until `ridepulse.pin()`.
@Suite("The pin", .timeLimit(.minutes(60))) struct PinTests {
  /// Serves the stage's database once, and leaves an event that is due.
  private func serveOnce(_ stage: Stage) async throws {
    let server = try Server(stage.environment)
    try await stage.addRide(state: "driver_arrived")
    try await stage.settled()
    #expect(server.stop() == 0)
    try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
  }

  /// Expects that nothing leaves a copy, with the same variables, until it is pinned.
  private func expectHeld(_ url: String, _ stage: Stage, because problem: String) async throws {
    let before = try stage.arrivals().count
    #expect(before > 0)
    let environment = stage.environment.merging(["DATABASE_URL": url]) { $1 }
    let once = try Command.ridepulse(["serve", "--once"], environment)
    #expect(once.status == 1)
    #expect(once.errors.contains(problem) && once.errors.contains("select ridepulse.pin()"))
    let (server, client) = try await APIClient.serve(environment)
    var ready = try client.get("/readyz")
    try await wait(until: "/readyz names the problem: \(ready)") {
      ready = try client.get("/readyz")
      return ready.status == 503 && ready.text.contains(problem)
    }
    #expect(ready.text.contains("select ridepulse.pin()"))
    #expect(try client.get("/healthz").status == 200)
    #expect(try client.get("/metrics").text.contains("ridepulse_sending_held 1\n"))
    let session = try PostgresSession(conninfo: url)
    func value(_ sql: String) async throws -> String? {
      try await session.run([Call(Statement(name: "", sql: sql))])[0].string(0, 0)
    }
    // Claims go on, and find the due event each time.
    _ = try await value("select ridepulse.emit('waiting_fee_started', 'r1')")
    for _ in 1...2 {
      let seen = try await value("select max(seen_at) from ridepulse.nodes") ?? ""
      try await wait(until: "the node has tried to claim again") {
        try await value("select max(seen_at) > '\(seen)' from ridepulse.nodes") == "t"
      }
    }
    #expect(try await value("select count(*) from ridepulse.agenda where node is not null") == "0")
    #expect(try stage.arrivals().count == before)
    #expect(server.log.components(separatedBy: "does not match its pin").count == 2)
    let doctor = try Command.ridepulse(["doctor"], environment)
    #expect(doctor.status == 2)
    #expect(doctor.output.contains(problem), "\(doctor.output)")
    #expect(try Command.ridepulse(["explain", "r1"], environment).status == 0)
    let channels = try Command.ridepulse(
      ["channels", "reconcile", "--app", "customer", "--apply"], environment)
    #expect(channels.status == 1 && channels.errors.contains(problem), "\(channels.errors)")
    // What a person who wants to send from here does; no restart is needed.
    _ = try await value("select ridepulse.pin()")
    try await wait(until: "pushes arrive") { try stage.arrivals().count > before }
    try await wait(until: "/readyz answers 200") { try client.get("/readyz").status == 200 }
    #expect(try await value("select count(*) from ridepulse.pinned_apps") == "2")
    #expect(server.stop() == 0)
    await session.close()
  }

  @Test func `R111: a dump restored elsewhere sends nothing until it is pinned`() async throws {
    try await Stage.run { stage in
      try await serveOnce(stage)
      let staging = try await LocalCluster()
      let copied = try Command.run(
        "/bin/bash",
        [
          "-c", "set -o pipefail; pg_dump \"$1\" | psql -qX -v ON_ERROR_STOP=1 \"$2\"", "copy",
          stage.conninfo, staging.url(),
        ], ProcessInfo.processInfo.environment)
      #expect(copied.status == 0, "\(copied.errors)")
      try await expectHeld(staging.url(), stage, because: "it was restored or moved")
      await staging.stop()
    }
  }

  @Test func `R111: a copy on the same server sends nothing until it is pinned`() async throws {
    let cluster = try await LocalCluster()
    try await Stage.run(cluster: cluster) { stage in
      try await serveOnce(stage)
      await stage.session.close()
      try await cluster.createDatabase(
        "copy", template: stage.conninfo.split(separator: "=").last.map(String.init) ?? "")
      try await expectHeld(cluster.url(database: "copy"), stage, because: "it is a copy")
    }
    await cluster.stop()
  }

  @Test func `R111: another bundle ID or default environment sends nothing`() async throws {
    try await Stage.run { stage in
      try await serveOnce(stage)
      let before = try stage.arrivals().count
      for (name, value, problem) in [
        ("APNS_CUSTOMER_BUNDLE_ID", "com.example.staging", "app customer is pinned to bundle ID"),
        ("APNS_SANDBOX", "true", "app driver is pinned to production"),
      ] {
        let result = try Command.ridepulse(
          ["serve", "--once"], stage.environment.merging([name: value]) { $1 })
        #expect(result.status == 1)
        #expect(result.errors.contains(problem), "\(result.errors)")
      }
      #expect(try stage.arrivals().count == before)
      // A further app is added to the pin.
      let added = try Command.ridepulse(
        ["serve", "--once"],
        stage.environment.merging(["APNS_COURIER_BUNDLE_ID": "com.example.courier"]) { $1 })
      #expect(added.status == 0, "\(added.errors)")
      #expect(try await stage.value("select count(*) from ridepulse.pinned_apps") == "3")
      #expect(try stage.arrivals().count > before)
    }
  }

  @Test func `R111: a snapshot whose services have another site, or none, sends nothing`()
    async throws
  {
    let production = ["RIDEPULSE_SITE": "production"]
    try await Stage.run { stage in
      try await stage.addRide(state: "driver_arrived")
      let first = try Command.ridepulse(
        ["serve", "--once"], stage.environment.merging(production) { $1 })
      #expect(first.status == 0, "\(first.errors)")
      let before = try stage.pushes().count
      #expect(before > 0)
      try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
      // The same server and OID, as in a snapshot.
      for (site, found) in [("staging", "RIDEPULSE_SITE is staging"), ("", "is not set")] {
        let environment = stage.environment.merging(["RIDEPULSE_SITE": site]) { $1 }
        let copy = try Command.ridepulse(["serve", "--once"], environment)
        #expect(copy.status == 1)
        #expect(copy.errors.contains("pinned to site production"), "\(copy.errors)")
        #expect(copy.errors.contains(found) && copy.errors.contains("select ridepulse.pin()"))
        try Checkup(environment).expect("pin", "failure", "pinned to site production")
      }
      #expect(try stage.pushes().count == before)
      try await stage.sql("select ridepulse.pin('staging')")
      let old = try Command.ridepulse(
        ["serve", "--once"], stage.environment.merging(production) { $1 })
      #expect(old.status == 1 && old.errors.contains("pinned to site staging"), "\(old.errors)")
      let new = try Command.ridepulse(
        ["serve", "--once"], stage.environment.merging(["RIDEPULSE_SITE": "staging"]) { $1 })
      #expect(new.status == 0, "\(new.errors)")
      #expect(try stage.pushes().count > before)
    }
  }

  @Test func `R111: hold stops a running service, and pin lets it continue`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      let before = try stage.arrivals().count
      try await stage.sql("select ridepulse.hold('wrong texts since the release')")
      try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
      try await server.waitForLog("wrong texts since the release")
      #expect(try stage.arrivals().count == before)
      try await stage.sql("select ridepulse.pin()")
      try await stage.settled()
      #expect(try stage.arrivals().count > before)
      #expect(server.stop() == 0)
    }
  }
}
