import LocalPostgres

/// Locates the `ridepulse` binary.
enum ServiceBinary {
  static func path() throws -> String { try LocalBinary.path("ridepulse") }
}

extension ProcessGuard {
  /// The guard of this build's nodes.
  static let shared = ProcessGuard(binary: (try? ServiceBinary.path()) ?? "")
}
