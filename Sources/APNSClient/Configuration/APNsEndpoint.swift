import Foundation

/// Where an environment's pushes go: host and port of a checked `https` URL.
package struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// The host's name or address, an IPv6 address in brackets.
  package let host: String

  /// The TCP port; 443 where the URL names none.
  package let port: Int

  /// Reads `https://host[:port]`.
  ///
  /// - Throws: `APNsEndpointError` where the text is anything else, also with a path, a user or a
  ///   query: they would be silently left out.
  package init(_ url: String) throws(APNsEndpointError) {
    guard let parts = URLComponents(string: url) else {
      throw APNsEndpointError(value: url, problem: "it is not a URL")
    }
    guard parts.scheme == "https" else {
      throw APNsEndpointError(value: url, problem: "it does not begin with https://")
    }
    guard let host = parts.host, !host.isEmpty else {
      throw APNsEndpointError(value: url, problem: "it names no host")
    }
    guard parts.user == nil, parts.password == nil else {
      throw APNsEndpointError(value: url, problem: "it names a user", showsValue: false)
    }
    guard parts.path.isEmpty || parts.path == "/" else {
      throw APNsEndpointError(value: url, problem: "it has a path")
    }
    guard parts.query == nil, parts.fragment == nil else {
      throw APNsEndpointError(value: url, problem: "it has a query or a fragment")
    }
    let port = parts.port ?? 443
    guard (1...65_535).contains(port) else {
      throw APNsEndpointError(value: url, problem: "its port is not 1 to 65535")
    }
    self.host = host
    self.port = port
  }

  private init(host: String, port: Int = 443) {
    self.host = host
    self.port = port
  }

  static let appleProduction = APNsEndpoint(host: "api.push.apple.com")
  static let appleSandbox = APNsEndpoint(host: "api.sandbox.push.apple.com")

  // The ports of the binary protocol that is gone, now with HTTP/2.
  static let appleProductionChannels = APNsEndpoint(
    host: "api-manage-broadcast.push.apple.com", port: 2196)
  static let appleSandboxChannels = APNsEndpoint(
    host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)

  /// What `:authority` says: the port only where it is not the usual one.
  var authority: String { port == 443 ? host : "\(host):\(port)" }

  /// The URL with its port.
  package var description: String { "https://\(host):\(port)" }
}

/// A URL that can't be an APNs endpoint.
package struct APNsEndpointError: Error, Hashable, CustomStringConvertible {
  /// The text as given.
  package let value: String

  /// What is wrong with it.
  package let problem: String

  /// False where the value holds a password.
  let showsValue: Bool

  init(value: String, problem: String, showsValue: Bool = true) {
    self.value = value
    self.problem = problem
    // A user and password may be in a text that is no URL, too.
    self.showsValue = showsValue && !value.utf8.contains(UInt8(ascii: "@"))
  }

  /// One sentence that names the value and what was expected; safe to log.
  package var description: String {
    let shown = showsValue ? "\"\(value)\"" : "the URL"
    return "\(shown) is no APNs endpoint: \(problem); expected https://host or https://host:port"
  }
}
