import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests of a process with several cells that starts with bad rule files.
@Suite("Cells: the last good rules", .timeLimit(.minutes(60))) struct CellStoredRulesTests {
  private static let misspelt = CellRuleTests.rules("Bad", key: "titel")
  private static let used = "Starting with the last good rules of the database"

  /// Serves one cell alone until its rules are stored.
  private func store(
    _ title: String, in cell: String, _ session: PostgresSession, _ cells: CellStage
  ) async throws {
    let server = try Server(
      cells.environment(rules: CellRuleTests.rules(title)), ["--cell", cell])
    try await cells.until(
      "select count(*) from ridepulse.rule_sets where texts[1] like '%\(title)%'", is: 1,
      in: session)
    #expect(server.stop() == 0)
  }

  @Test func `the rules of one cell's database serve all cells, and the log names it`() async throws
  {
    let gone = try await LocalCluster.shared().url(database: "no_such_city")
    try await CellStage.run("gone \(gone)\n") { cells in
      try await store("Good", in: "wien", cells.wien, cells)
      for (session, ride) in cells.both { try await cells.addRide(ride, to: session) }
      let (server, client) = try await APIClient.serve(cells.environment(rules: Self.misspelt))
      try await server.waitForLog(" Serving", times: 2)
      #expect(server.log.contains("\(Self.used) cell=wien digest="), "\(server.log)")
      #expect(server.log.components(separatedBy: "Rule files refused").count == 2)
      #expect(try await cells.titles() == ["Good", "Good"])
      for (cell, (session, _)) in zip(["berlin", "wien"], cells.both) {
        let ready = try client.get("/readyz").text
        #expect(ready.contains("cell \(cell): rules: last good, "), "\(ready)")
        try await cells.until(
          "select count(*) from ridepulse.nodes where rules_problem like '%titel%'", is: 1,
          in: session)
      }
      // Only files that were read from a directory are stored.
      try await cells.until("select count(*) from ridepulse.rule_sets", is: 0, in: cells.berlin)
      _ = try cells.environment(rules: CellRuleTests.rules("Better"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      #expect(try await cells.titles() == ["Better", "Better"])
      #expect(try !client.get("/readyz").text.contains("rules: "))
      for (session, _) in cells.both {
        try await cells.until(
          "select count(*) from ridepulse.rule_sets where texts[1] like '%Better%'", is: 1,
          in: session)
      }
      #expect(server.stop() == 0)
    }
  }

  @Test func `the newest of all cells are used, whichever is listed first`() async throws {
    try await CellStage.run { cells in
      try await store("Old", in: "berlin", cells.berlin, cells)
      try await store("New", in: "wien", cells.wien, cells)
      for (session, ride) in cells.both { try await cells.addRide(ride, to: session) }
      let server = try Server(cells.environment(rules: Self.misspelt))
      try await server.waitForLog(" Serving", times: 2)
      #expect(try await cells.titles() == ["New", "New"])
      #expect(server.stop() == 0)
    }
  }

  @Test func `without good rules in any cell the start ends with the reason of each`() async throws
  {
    let gone = try await LocalCluster.shared().url(database: "no_such_city")
    try await CellStage.run("gone \(gone)\n") { cells in
      let result = try Command.ridepulse(["serve"], cells.environment(rules: Self.misspelt))
      #expect(result.status == 1)
      #expect(result.errors.contains("titel"))
      for cell in ["berlin", "wien"] {
        #expect(
          result.errors.contains(
            "\ncell \(cell): no good rules that this version can use are stored"),
          "\(result.errors)")
      }
      #expect(
        result.errors.contains("\ncell gone: the last good rules can't be read: "),
        "\(result.errors)")
    }
  }

  @Test func `a wait for the last good rules names each cell`() async throws {
    try await CellStage.run { cells in
      try await store("Good", in: "wien", cells.wien, cells)
      for (session, _) in cells.both {
        try await session.script("alter schema ridepulse rename to elsewhere", timeout: patience)
      }
      let sink = try NotifySink(cells.stage.directory + "/notify")
      let environment = try cells.environment(rules: Self.misspelt)
        .merging(["NOTIFY_SOCKET": sink.name]) { $1 }
      let server = try Server(environment, until: "Waiting for the schema cell=wien")
      try await server.waitForLog("Waiting for the schema cell=berlin")
      try await sink.receives("STATUS=cell wien: waiting for the schema")
      try await cells.wien.script("alter schema elsewhere rename to ridepulse", timeout: patience)
      try await server.waitForLog("Serving cell=wien")
      #expect(server.log.contains("\(Self.used) cell=wien digest="), "\(server.log)")
      try await cells.addRide("w1", to: cells.wien)
      #expect(try await cells.arrive("w1", cells.wien) == "Good")
      #expect(server.stop() == 0)
    }
  }
}
