import Foundation
import LocalStack
import PostgresStore
import StoreTestSupport

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

  /// Returns the number of accepted pushes of a cell.
  func accepted(_ session: PostgresSession) async throws -> Int64 {
    let query = Statement(
      name: "", sql: "select count(*) from ridepulse.deliveries where status = 'accepted'")
    return try await session.run([Call(query)])[0].int64(0, 0) ?? 0
  }
}
