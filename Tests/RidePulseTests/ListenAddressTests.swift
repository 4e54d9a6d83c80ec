import LocalStack
import PostgresStore
import TestSupport
import Testing

@Suite("An address for LISTEN", .timeLimit(.minutes(60))) struct ListenAddressTests {
  @Test func `behind a pooler it listens over an address of its own`() async throws {
    let cluster = try await LocalCluster.shared()
    try await Stage.run { stage in
      try await stage.addRide()
      let pooler = try await LocalPgBouncer(before: cluster, mode: .transaction, poolSize: 2)
      let name = String(stage.conninfo.split(separator: "=").last ?? "")
      let environment = stage.environment.merging([
        "DATABASE_URL": pooler.url(database: name), "RIDEPULSE_LISTEN": stage.conninfo,
      ]) { $1 }
      let server = try Server(environment)
      try await stage.until("select bool_or(asleep) from ridepulse.nodes", is: "t")
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      #expect(try stage.arrivals().count == 1)
      #expect(server.log.contains("Woken"))
      #expect(server.log.contains("LISTEN has an address of its own"))
      #expect(!server.log.contains("LISTEN has no effect"), "\(server.log)")
      try Checkup(environment).expect("listen", "ok", "came back over RIDEPULSE_LISTEN")
      #expect(server.stop() == 0)
      await pooler.stop()
    }
  }

  @Test func `doctor names a connection of LISTEN that fails`() async throws {
    try await Stage.run { stage in
      let nowhere = stage.environment.merging([
        "RIDEPULSE_LISTEN": "host=127.0.0.1 port=1 dbname=postgres"
      ]) { $1 }
      let checkup = try Checkup(nowhere)
      checkup.expect("listen", "failure", "RIDEPULSE_LISTEN leads to no connection: ")
      checkup.expect("listen", "failure", "Connection refused")
      try await stage.asReader { environment in
        let reader = environment["DATABASE_URL"]?.split(separator: "=").last ?? ""
        try await stage.sql("alter role \(reader) connection limit 1")
        let checkup = try Checkup(environment)
        checkup.expect("listen", "failure", "a second connection failed: ")
        checkup.expect("listen", "failure", "too many connections")
      }
    }
  }

  @Test func `an address of LISTEN that leads to another database is refused`() async throws {
    let cluster = try await LocalCluster.shared()
    let other = try await cluster.freshDatabase()
    try await Stage.run { stage in
      let environment = stage.environment.merging(["RIDEPULSE_LISTEN": other]) { $1 }
      let server = try Command.ridepulse(["serve"], environment)
      #expect(server.status == 1)
      #expect(
        server.errors.contains("RIDEPULSE_LISTEN leads to another database: OID"),
        "\(server.errors)")
      try Checkup(environment).expect(
        "listen", "failure", "RIDEPULSE_LISTEN leads to another database")
    }
  }
}
