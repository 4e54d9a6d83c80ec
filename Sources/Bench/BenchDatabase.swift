import LocalStack
import PostgresStore

/// A private Postgres with the schema, for one measurement.
struct BenchDatabase {
  let cluster: LocalCluster
  let session: PostgresSession

  /// - Parameter options: Server settings, each as `name=value`.
  init(durability: LocalCluster.Durability = .real, options: [String] = []) async throws {
    cluster = try await LocalCluster(durability: durability, options: options)
    session = try PostgresSession(conninfo: cluster.url())
    _ = try await Migrations.apply(session: session)
  }

  func end() async {
    await session.close()
    await cluster.stop()
  }
}

/// A measurement with a database; its other servers are stopped in an `end` of its own.
protocol DatabaseBench: ServerBench {
  var database: BenchDatabase { get }
}

extension DatabaseBench {
  var cluster: LocalCluster { database.cluster }
  var session: PostgresSession { database.session }

  func end() async { await database.end() }
}
