import LocalStack

extension ProcessGuard {
  /// The guard of the services that this process starts.
  static let shared = ProcessGuard(binary: "*/ridepulse")
}
