internal import Synchronization

extension LocalCluster {
  private static let sharing = Mutex<Task<LocalCluster, any Error>?>(nil)

  /// The one fast cluster of this process, made at the first call and gone with the process.
  public static func shared() async throws -> LocalCluster {
    let task = sharing.withLock { task in
      let current = task ?? Task { try await LocalCluster() }
      task = current
      return current
    }
    return try await task.value
  }
}
