import LocalPostgres

/// Where `ridepulse` is.
enum ServiceBinary {
  static func path() throws -> String { try LocalBinary.path("ridepulse") }
}

extension ProcessGuard {
  /// Of this build's nodes.
  static let shared = ProcessGuard(binary: (try? ServiceBinary.path()) ?? "")
}
