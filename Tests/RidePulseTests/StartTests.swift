import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests `serve` while Postgres is away, starting, or a standby.
@Suite("Start without Postgres", .timeLimit(.minutes(60))) struct StartTests {
  private func client(_ server: Server) async throws -> APIClient {
    try await server.waitForLog("Admin server")
    return APIClient(url: "http://127.0.0.1:\(server.field("port") ?? "")")
  }

  @Test func `R112: it waits with /healthz up and /readyz 503, then serves`() async throws {
    let cluster = try await LocalCluster(durability: .real)
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide(state: "driver_arrived")
      await cluster.kill()
      let sink = try NotifySink(stage.directory + "/notify")
      let server = try Server(
        stage.environment.merging(
          ["RIDEPULSE_ADMIN": "127.0.0.1:0", "NOTIFY_SOCKET": sink.name]) { $1 },
        until: "Waiting for Postgres")
      let client = try await client(server)
      #expect(try client.get("/healthz").status == 200)
      let answer = try client.get("/readyz")
      #expect(answer.status == 503)
      #expect(answer.text.hasPrefix("waiting for Postgres: "))
      #expect(answer.text.contains(cluster.directory))
      // Several attempts, and one line.
      try await sink.receives("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=waiting for Postgres", after: 3)
      #expect(server.log.components(separatedBy: "Waiting for Postgres").count == 2)
      #expect(!server.log.contains("Database unreachable"))
      #expect(!sink.words.contains("READY=1"))
      try await cluster.start()
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.isAccepted })
      #expect(try client.get("/readyz").status == 200)
      try await sink.receives("READY=1")
      #expect(server.stop() == 0)
    }
    await cluster.stop()
  }

  @Test func `R112: SIGTERM ends the wait at once`() async throws {
    try await Stage.run { stage in
      let server = try Server(
        stage.environment.merging(["DATABASE_URL": "host=/nowhere"]) { $1 },
        until: "Waiting for Postgres")
      #expect(server.stop() == 0)
      #expect(server.log.contains("Stopped"))
      #expect(!server.log.contains(" Serving"))
    }
  }

  @Test func `R112: requests that need the database are answered at once during the wait`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(
        stage.environment.merging([
          "DATABASE_URL": "host=/nowhere", "RIDEPULSE_ADMIN": "127.0.0.1:0",
          "RIDEPULSE_ADMIN_TOKEN": "sesame-42",
        ]) { $1 }, until: "Waiting for Postgres")
      let client = try await client(server)
      let event = #"{"event": "driver_arrived", "ride_id": "r1"}"#
      for answer in [
        try client.get("/v1/deliveries"), try client.get("/v1/rides/r1/explain"),
        try client.get("/ride?id=r1"), try client.get("/timeline"),
        try client.get("/cards"), try client.post("/v1/events", event),
      ] {
        #expect(answer.status == 503)
        #expect(answer.text.contains("waiting for Postgres"), "\(answer)")
      }
      #expect(try client.send("POST", "/wake", nil).text.contains("waiting for Postgres"))
      #expect(try client.get("/metrics").status == 200)
      #expect(server.stop() == 0)
    }
  }

  @Test func `R112: what waiting cannot fix ends the start with a message`() async throws {
    try await Stage.run { stage in
      let bare = try await LocalCluster.shared().freshDatabase()
      let role = "stranger_\(UInt32.random(in: 0 ... .max))"
      try await stage.sql("create role \(role) login")
      for (url, words, text) in [
        (stage.conninfo + "x", [], "does not exist"),
        (stage.conninfo.replacing("user=postgres", with: "user=nosuch"), [], "role \"nosuch\""),
        (bare, ["--once"], "run: ridepulse migrate"), ("host=a bad", [], "connection string"),
        (stage.conninfo + " user=\(role)", [], "permission denied"),
        ("host=/nowhere", ["--once"], "can't be reached"),
      ] as [(String, [String], String)] {
        let result = try Command.ridepulse(
          ["serve"] + words, stage.environment.merging(["DATABASE_URL": url]) { $1 })
        #expect(result.status == 1, "\(url)")
        #expect(result.errors.contains(text), "\(url): \(result.errors)")
      }
      try await stage.sql("drop role \(role)")
    }
  }

  @Test func `Without a schema it waits, names the command, and serves once it is there`()
    async throws
  {
    try await Stage.run { stage in
      let bare = try await LocalCluster.shared().freshDatabase()
      let environment = stage.environment.merging([
        "DATABASE_URL": bare, "RIDEPULSE_ADMIN": "127.0.0.1:0",
        "RIDEPULSE_ADMIN_TOKEN": "sesame-42",
      ]) { $1 }
      let server = try Server(environment, until: "Waiting for the schema")
      let client = try await client(server)
      #expect(try client.get("/healthz").status == 200)
      for path in ["/readyz", "/v1/deliveries"] {
        let answer = try client.get(path)
        #expect(answer.status == 503)
        #expect(answer.text.contains("waiting for the schema: the database lacks 0001_rides"))
        #expect(answer.text.contains("run: ridepulse migrate"), "\(path): \(answer.text)")
      }
      #expect(try Command.ridepulse(["migrate"], environment).status == 0)
      try await server.waitForLog(" Serving")
      try await wait(until: "it is ready") { try client.get("/readyz").status == 200 }
      #expect(server.stop() == 0)
    }
  }

  @Test func `R112: it waits for a standby to be promoted`() async throws {
    let cluster = try await LocalCluster()
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide(state: "driver_arrived")
      let standby = try await LocalCluster(standbyOf: cluster)
      let name = stage.conninfo.split(separator: "=").last.map(String.init) ?? ""
      let session = try PostgresSession(conninfo: standby.url(database: name))
      try await wait(until: "the standby has the phones") {
        let rows = try? await session.run([
          Call(Statement(name: "", sql: "select count(*) from ridepulse.devices"))
        ])
        return rows?[0].string(0, 0) == "2"
      }
      let server = try Server(
        stage.environment.merging(["DATABASE_URL": standby.url(database: name)]) { $1 },
        until: "Waiting for Postgres")
      #expect(server.log.contains("25006"))
      #expect(server.isRunning)
      await cluster.kill()
      _ = try await session.run([Call(Statement(name: "", sql: "select pg_promote()"))])
      try await wait(until: "a push arrives") { try !stage.arrivals().isEmpty }
      #expect(server.stop() == 0)
      await session.close()
      await standby.stop()
    }
    await cluster.stop()
  }
}
