internal import Synchronization

extension LocalCluster {
  private static let sharing = Mutex<Task<LocalCluster, any Error>?>(nil)

  /// Returns the one fast cluster of this process, created at the first call and removed with the
  /// process.
  package static func shared() async throws -> LocalCluster {
    let task = sharing.withLock { task in
      let current = task ?? Task { try await LocalCluster() }
      task = current
      return current
    }
    return try await task.value
  }

  /// Creates a database with a name that this process has not used, and returns its connection
  /// string.
  ///
  /// A template must have no connections meanwhile. The database is dropped only with the cluster.
  package func freshDatabase(
    template: String = "template1"
  ) async throws(LocalPostgresError) -> String {
    let name = "fresh_\(Self.freshNumber.wrappingAdd(1, ordering: .relaxed).newValue)"
    try await createDatabase(name, template: template)
    return url(database: name)
  }

  private static let freshNumber = Atomic(0)
}
