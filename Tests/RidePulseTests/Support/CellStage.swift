import Foundation
import LocalStack
import PostgresStore
import StoreTestSupport
import TestSupport

/// A stage with the databases of two cells and the file that lists them.
struct CellStage {
  let stage: Stage
  let wien: PostgresSession
  let environment: [String: String]

  /// - Parameter more: Further lines of the file.
  static func run(_ more: String = "", _ body: (CellStage) async throws -> Void) async throws {
    try await Stage.run { stage in
      let second = try await LocalCluster.shared().migratedDatabase()
      let file = stage.directory + "/cells"
      try Data("berlin \(stage.conninfo)\nwien \(second)\n\(more)".utf8)
        .write(to: URL(fileURLWithPath: file))
      var environment = stage.environment
      environment["DATABASE_URL"] = nil
      environment["RIDEPULSE_CELLS"] = file
      let wien = try PostgresSession(conninfo: second)
      let result: Result<Void, any Error>
      do {
        result = .success(
          try await body(CellStage(stage: stage, wien: wien, environment: environment)))
      } catch {
        result = .failure(error)
      }
      await wien.close()
      try result.get()
    }
  }

  var berlin: PostgresSession { stage.session }

  /// Both cells with the ID of a ride of each.
  var both: [(session: PostgresSession, ride: String)] { [(berlin, "b1"), (wien, "w1")] }

  /// Writes the rule files of all cells; returns the environment with their directory.
  func environment(rules text: String) throws -> [String: String] {
    let written = try stage.environment(rules: text)
    return environment.merging(written.filter { $0.key == "RIDEPULSE_SCHEDULES" }) { $1 }
  }

  /// Adds a ride to a cell, and the phone of its customer.
  func addRide(_ id: String, to session: PostgresSession) async throws {
    try await session.script(
      """
      select ridepulse.register_device('customer', 'c-\(id)', md5('\(id)') || md5('phone'));
      insert into ridepulse.rides (id, state, customer_id, attributes)
      values ('\(id)', 'driver_en_route', 'c-\(id)', '{"driver_name": "Ana", "plate": "B-RP 1"}')
      """, timeout: patience)
  }

  /// Emits `driver_arrived` for a ride; returns the title of the push that follows.
  func arrive(_ ride: String, _ session: PostgresSession) async throws -> String? {
    let before = try await accepted(session)
    try await session.script(
      "select ridepulse.emit('driver_arrived', '\(ride)')", timeout: patience)
    try await wait(until: "the push of \(ride) is accepted") {
      try await accepted(session) > before
    }
    return try stage.pushes().last { $0.ride == ride }?.aps("alert", "title")
  }

  /// Returns the titles of the pushes of one event in each cell.
  func titles() async throws -> [String?] {
    var titles: [String?] = []
    for (session, ride) in both { titles.append(try await arrive(ride, session)) }
    return titles
  }

  /// Waits until a query's single number is as expected.
  func until(_ query: String, is expected: Int64, in session: PostgresSession) async throws {
    try await wait(until: "\(query) is \(expected)") {
      try await session.run([Call(Statement(name: "", sql: query))])[0].int64(0, 0) == expected
    }
  }

  /// Returns the number of accepted pushes of a cell.
  func accepted(_ session: PostgresSession) async throws -> Int64 {
    let query = Statement(
      name: "", sql: "select count(*) from ridepulse.deliveries where status = 'accepted'")
    return try await session.run([Call(query)])[0].int64(0, 0) ?? 0
  }
}
