internal import Synchronization

extension LocalCluster {
  private static let sharing = Mutex<Task<LocalCluster, any Error>?>(nil)

  /// The one fast cluster of this process, made at the first call and gone with the process.
  package static func shared() async throws -> LocalCluster {
    let task = sharing.withLock { task in
      let current = task ?? Task { try await LocalCluster() }
      task = current
      return current
    }
    return try await task.value
  }

  /// Makes a database of a name that this process has not used, and returns its connection string.
  ///
  /// A template must have nobody connected to it meanwhile; it is not dropped before the cluster.
  package func freshDatabase(
    template: String = "template1"
  ) async throws(LocalPostgresError) -> String {
    let name = "fresh_\(Self.freshNumber.wrappingAdd(1, ordering: .relaxed).newValue)"
    try await createDatabase(name, template: template)
    return url(database: name)
  }

  private static let freshNumber = Atomic(0)
}
