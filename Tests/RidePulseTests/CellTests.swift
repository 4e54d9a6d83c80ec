import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import TestSupport
import Testing

/// Tests of `RIDEPULSE_CELLS`: one service for several databases.
@Suite("Cells", .timeLimit(.minutes(60))) struct CellTests {
  private static let phone = """
    select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)')
    """

  private static func ride(_ id: String) -> String {
    """
    insert into ridepulse.rides (id, state, customer_id, attributes)
    values ('\(id)', 'driver_arrived', 'c1', '{"driver_name": "Ana", "plate": "B-RP 1"}')
    """
  }

  @Test func `a phone in two cells gets each ride's push once, over one connection`() async throws {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment)
      try await server.waitForLog(" Serving", times: 2)
      for session in [cells.stage.session, cells.wien] {
        // The backend registers it with each booking: again has no effect.
        for _ in 0..<2 { try await session.script(Self.phone, timeout: patience) }
      }
      try await cells.stage.sql(Self.ride("b1"))
      try await cells.wien.script(Self.ride("w1"), timeout: patience)
      for (session, name) in [(cells.stage.session, "berlin"), (cells.wien, "wien")] {
        try await wait(until: "\(name) sends: \(server.log)") {
          try await cells.accepted(session) == 1
        }
      }
      let rides = try cells.stage.pushes().compactMap(\.ride)
      #expect(rides.sorted() == ["b1", "w1"])

      let metrics = try client.get("/metrics").text
      for cell in ["berlin", "wien"] {
        #expect(metrics.contains("ridepulse_ready{cell=\"\(cell)\"} 1"), "\(metrics)")
        #expect(metrics.contains("ridepulse_pushes_total{cell=\"\(cell)\",app=\"customer\""))
      }
      let opened = metrics.split(separator: "\n").filter {
        $0.hasPrefix("ridepulse_push_connections_opened_total{")
      }
      #expect(!opened.contains { $0.contains("cell=") })
      #expect(opened.contains { $0.contains("production") && $0.hasSuffix(" 1") }, "\(opened)")
      #expect(metrics.components(separatedBy: "# TYPE ridepulse_ready ").count == 2)
      #expect(server.stop() == 0)
    }
  }

  @Test func `a call names its cell, and without one it is refused`() async throws {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment)
      try await server.waitForLog(" Serving", times: 2)
      let body = #"{"state": "requested", "customer_id": "c1"}"#
      let device = #"{"app": "customer", "owner_id": "c1", "token": "\#(Stage.customerToken)"}"#
      for path in ["/v1/devices", "/v1/events"] {
        let refused = try client.post(path, device)
        #expect(refused.status == 400 && refused.code == "cell_missing", "\(refused)")
        #expect(refused.text.contains("berlin, wien"))
      }
      let unknown = try client.post("/cells/paris/v1/devices", device)
      #expect(unknown.status == 404 && unknown.code == "not_found", "\(unknown)")
      #expect(try client.post("/cells/wien/v1/devices", device).status == 200)
      let stranger = APIClient(url: client.url, token: nil)
      let closed = try stranger.post("/cells/wien/v1/devices", device)
      #expect(closed.status == 401 && closed.code == "unauthorized", "\(closed)")
      #expect(try client.send("PUT", "/cells/wien/v1/rides/w1", body).status == 201)
      let count = Statement(
        name: "",
        sql:
          "select (select count(*) from ridepulse.devices), (select count(*) from ridepulse.rides)"
      )
      for (session, expected) in [(cells.stage.session, Int64(0)), (cells.wien, 1)] {
        let row = try await session.run([Call(count)])[0]
        #expect(row.int64(0, 0) == expected && row.int64(0, 1) == expected)
      }
      #expect(try client.get("/").text == "/cells/berlin/\n/cells/wien/\n")
      #expect(try client.get("/cells/wien/").text.contains("<html"))
      let ride = try client.get("/cells/berlin/v1/rides/w1/explain")
      #expect(ride.status == 404 && ride.code == "unknown_ride", "\(ride)")
      #expect(server.stop() == 0)
    }
  }

  @Test func `a cell without its database or schema keeps no other from sending`() async throws {
    let empty = try await LocalCluster.shared().freshDatabase()
    try await CellStage.run(
      "empty \(empty)\ngone \(try LocalCluster.shared().url(database: "no_such_city"))\n"
    ) { cells in
      let (server, client) = try await APIClient.serve(cells.environment)
      try await server.waitForLog(" Serving", times: 2)
      try await server.waitForLog("Cell not started, trying again cell=gone")
      try await cells.wien.script(Self.phone, timeout: patience)
      try await cells.wien.script(Self.ride("w1"), timeout: patience)
      try await wait(until: "wien sends: \(server.log)") {
        try await cells.accepted(cells.wien) == 1
      }
      let ready = try client.get("/readyz")
      #expect(ready.status == 503)
      #expect(ready.text.contains("cell empty: waiting for the schema"), "\(ready)")
      #expect(ready.text.contains("cell gone: not started: "), "\(ready)")
      #expect(!ready.text.contains("cell wien"))
      let migrated = try Command.ridepulse(["migrate", "--cell", "empty"], cells.environment)
      #expect(migrated.status == 0, "\(migrated.errors)")
      try await server.waitForLog("Serving cell=empty")
      #expect(server.stop() == 0)
    }
  }

  @Test func `commands show all cells, or the one that is chosen`() async throws {
    try await CellStage.run { cells in
      for (session, ride) in [(cells.stage.session, "b1"), (cells.wien, "w1")] {
        try await session.script(Self.ride(ride), timeout: patience)
      }
      func run(_ words: String...) throws -> Tool {
        try Command.ridepulse(words, cells.environment)
      }
      let found = try run("explain", "w1")
      #expect(found.status == 0 && found.output.hasPrefix("cell wien\n"), "\(found.output)")
      #expect(!found.output.contains("cell berlin"))
      let nowhere = try run("explain", "x1")
      #expect(nowhere.status == 1 && nowhere.output.isEmpty)
      #expect(nowhere.errors.contains("in no cell of berlin, wien"))
      let chosen = try run("explain", "w1", "--cell", "wien")
      #expect(chosen.status == 0 && !chosen.output.contains("cell wien"))
      #expect(try run("explain", "w1", "--cell", "berlin").status == 1)
      let unknown = try run("explain", "w1", "--cell", "paris")
      #expect(unknown.status == 64 && unknown.errors.contains("the cells are berlin, wien"))
      let refused = try run("trigger", "driver_arrived", "--ride", "w1")
      #expect(refused.status == 64 && refused.errors.contains("--cell NAME"), "\(refused.errors)")
      let doctor = try run("doctor")
      #expect(doctor.output.contains("cell berlin\n") && doctor.output.contains("cell wien\n"))
      // APNs is tried once, not for each cell.
      let keys = doctor.output.components(separatedBy: " connection to ").count
      #expect(keys <= 2, "\(doctor.output)")
      let nodes = try run("nodes", "--format", "json")
      let values = nodes.output.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }
      #expect(
        values.map { $0.value(at: ["cell"]) } == [.string("berlin"), .string("wien")])
      #expect(try run("status").output.contains("cell wien\n"))
      let alone = try Command.ridepulse(
        ["nodes", "--cell", "wien"], ["DATABASE_URL": cells.stage.conninfo])
      #expect(alone.status == 64 && alone.errors.contains("RIDEPULSE_CELLS is not set"))
    }
  }

  @Test func `one due push does not wait behind 10,000 of another cell`() async throws {
    try await CellStage.run { cells in
      let server = try Server(cells.environment)
      try await server.waitForLog(" Serving", times: 2)
      try await cells.wien.script(Self.phone, timeout: patience)
      try await cells.stage.sql(
        """
        select ridepulse.register_device('customer', 'p' || n, md5(n::text) || md5('p' || n))
          from generate_series(1, 10000) n;
        insert into ridepulse.rides (id, state, customer_id, attributes)
          select 'b' || n, 'driver_arrived', 'p' || n, '{"driver_name": "Ana", "plate": "B 1"}'
          from generate_series(1, 10000) n
        """)
      // Berlin's are committed, and need seconds.
      try await cells.wien.script(Self.ride("w1"), timeout: patience)
      try await wait(until: "wien sends") { try await cells.accepted(cells.wien) == 1 }
      try await wait(until: "berlin has sent all", within: .seconds(300)) {
        try await cells.accepted(cells.stage.session) == 10_000
      }
      let arrivals = try cells.stage.pushes().compactMap(\.ride)
      let position = arrivals.firstIndex(of: "w1") ?? arrivals.count
      #expect(position < 9000, "\(position) of 10,000 of another cell arrived before it")
      #expect(server.stop() == 0)
    }
  }
}
