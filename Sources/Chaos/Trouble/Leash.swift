import LocalPostgres

/// Where `ridepulse` is.
enum ServiceBinary {
  static func path() throws -> String { try LocalBinary.path("ridepulse") }
}

extension ProcessLeash {
  /// Of this build's nodes.
  static let shared = ProcessLeash(binary: (try? ServiceBinary.path()) ?? "")
}
