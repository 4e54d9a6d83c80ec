/// Who may be meant by a request's `Host`: a foreign name that was made to point at this machine
/// (DNS rebinding) would let a stranger's page read rides through a visitor's browser.
///
/// Only a server on a loopback address is guarded: others have names that it can't know.
struct HostGuard {
  private let isLocal: Bool

  init(_ address: ListenAddress) {
    isLocal = Self.isLoopback(address.host)
  }

  /// Whether a request that says `Host: …` is answered; tools that say none are no browsers.
  func admits(_ host: String?) -> Bool {
    guard isLocal, let host, !host.isEmpty else { return true }
    return Self.isLoopback(Self.name(of: host))
  }

  /// Without its port and brackets.
  private static func name(of host: String) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }

  private static func isLoopback(_ name: String) -> Bool {
    let name = name.lowercased()
    return name.hasSuffix(".localhost") || ListenAddress(host: name, port: 0).isLoopback
  }
}
