import Base
import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests of the rules of several cells: they are one set.
@Suite("Cells: rules", .timeLimit(.minutes(60))) struct CellRuleTests {
  private static let misspelt = rules("Three", key: "titel")

  static func rules(_ title: String, key: String = "title") -> String {
    """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { \(key): "\(title)" }
        data: { ride_id: "{{ride.id}}" }
        expires: 1h

    """
  }

  private func lines(_ server: Server, _ text: String) -> [String] {
    server.log.split(separator: "\n").filter { $0.contains(text) }.map(String.init)
  }

  /// Returns the digest in a log line.
  private func digest(_ line: String?) -> Substring? {
    line?.firstMatch(of: /digest=([0-9a-f]+)/)?.output.1
  }

  @Test func `SIGHUP changes the rules of every cell, and refused ones change none`() async throws {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment(rules: Self.rules("One")))
      try await server.waitForLog(" Serving", times: 2)
      for (session, ride) in cells.both { try await cells.addRide(ride, to: session) }
      #expect(try await cells.titles() == ["One", "One"])
      _ = try cells.environment(rules: Self.rules("Two"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      #expect(try await cells.titles() == ["Two", "Two"])

      _ = try cells.environment(rules: Self.misspelt)
      server.hangUp()
      try await server.waitForLog("Rule files not reloaded")
      #expect(try await cells.titles() == ["Two", "Two"])
      // The files are those of the process: one line, and no cell's.
      for text in ["Rule files reloaded", "Rule files not reloaded"] {
        let lines = lines(server, text)
        #expect(lines.count == 1 && !lines[0].contains("cell="), "\(lines)")
      }
      #expect(lines(server, "Rule files not reloaded")[0].contains("titel"))
      let ready = try client.get("/readyz")
      #expect(ready.status == 200, "\(ready)")
      let metrics = try client.get("/metrics").text
      for (cell, (session, _)) in zip(["berlin", "wien"], cells.both) {
        #expect(ready.text.contains("\ncell \(cell): rules: unchanged, "), "\(ready)")
        #expect(metrics.contains("ridepulse_rules_refused{cell=\"\(cell)\"} 1\n"), "\(metrics)")
        try await cells.until(
          "select count(*) from ridepulse.nodes where rules_problem like '%titel%'", is: 1,
          in: session)
      }
      #expect(server.stop() == 0)
    }
  }

  @Test func `a cell that starts after a reload has its rules, and logs their digest`() async throws
  {
    let late = try await LocalCluster.shared().freshDatabase()
    try await CellStage.run("late \(late)\n") { cells in
      let server = try Server(cells.environment(rules: Self.rules("One")))
      try await server.waitForLog("Waiting for the schema cell=late")
      try await server.waitForLog(" Serving", times: 2)
      _ = try cells.environment(rules: Self.rules("Two"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      let migrated = try Command.ridepulse(["migrate", "--cell", "late"], cells.environment)
      #expect(migrated.status == 0, "\(migrated.errors)")
      try await server.waitForLog("Serving cell=late")
      let reloaded = digest(lines(server, "Rule files reloaded").last)
      #expect(reloaded != nil && digest(lines(server, "Serving cell=late").last) == reloaded)
      // What the database could not take before its schema was there is no fault of its grants.
      let faults = lines(server, "not recorded").filter { $0.contains("cell=late") }
      #expect(faults == [])
      let session = try PostgresSession(conninfo: late)
      try await cells.addRide("l1", to: session)
      #expect(try await cells.arrive("l1", session) == "Two")
      await session.close()
      #expect(server.stop() == 0)
    }
  }

  @Test func `a reload over HTTP is of all cells`() async throws {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment(rules: Self.rules("One")))
      try await server.waitForLog(" Serving", times: 2)
      for (session, ride) in cells.both { try await cells.addRide(ride, to: session) }
      _ = try cells.environment(rules: Self.misspelt)
      let refused = try client.send("POST", "/v1/reload", nil)
      #expect(refused.status == 422 && refused.code == "rules_refused", "\(refused)")
      let problems = refused.body?.value(at: ["problems"])?.elements ?? []
      #expect(problems.count == 1, "\(refused)")
      #expect(problems.first?.value(at: ["line"]) == .integer(5))
      #expect(problems.first?.value(at: ["message"])?.texts.first?.contains("titel") == true)
      #expect(try await cells.titles() == ["One", "One"])

      _ = try cells.environment(rules: Self.rules("Two"))
      let ofCell = try client.send("POST", "/cells/wien/v1/reload", nil)
      #expect(ofCell.status == 404 && ofCell.code == "not_found", "\(ofCell)")
      let stranger = APIClient(url: client.url, token: nil)
      #expect(try stranger.send("POST", "/v1/reload", nil).status == 401)
      #expect(try await cells.titles() == ["One", "One"])
      let done = try client.send("POST", "/v1/reload", nil)
      #expect(done.status == 200, "\(done)")
      #expect(done.body?.value(at: ["changed"])?.texts == ["arrived"])
      #expect(try await cells.titles() == ["Two", "Two"])
      let digest = done.string("digest") ?? ""
      for (session, _) in cells.both {
        try await cells.until(
          "select count(*) from ridepulse.rule_sets where digest = '\(digest)'", is: 1, in: session)
      }
      #expect(try client.get("/readyz").text == "ready\n")
      #expect(server.stop() == 0)
    }
  }
}
