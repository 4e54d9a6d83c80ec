/// Checks a request's `Host` against DNS rebinding.
///
/// A foreign name that resolves to this machine would let another site's page read rides through a
/// visitor's browser. Only a server on a loopback address is guarded: any other server may
/// have names that it cannot determine.
struct HostGuard {
  private let isLocal: Bool

  init(_ address: ListenAddress) {
    isLocal = Self.isLoopback(address.host)
  }

  /// Whether a request with this `Host` is accepted; tools that send none are not browsers.
  func admits(_ host: String?) -> Bool {
    guard isLocal, let host, !host.isEmpty else { return true }
    return Self.isLoopback(Self.name(of: host))
  }

  /// Returns a host without its port and brackets.
  private static func name(of host: String) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }

  private static func isLoopback(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasSuffix(".localhost") || ListenAddress(host: name, port: 0).isLoopback
  }
}
