import LocalPostgres

extension ProcessGuard {
  /// Of the services of this process.
  static let shared = ProcessGuard(binary: "*/ridepulse")
}
