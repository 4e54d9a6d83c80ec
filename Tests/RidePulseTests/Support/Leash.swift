import LocalPostgres

extension ProcessLeash {
  /// Of the services of this process.
  static let shared = ProcessLeash(binary: "*/ridepulse")
}
