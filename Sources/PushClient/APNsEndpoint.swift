import Foundation

/// The host and port of a service of APNs, or of FCM, taken from a checked `https` URL.
package struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// The host's name or address; an IPv6 address is in brackets.
  package let host: String

  /// The TCP port; 443 if the URL has none.
  package let port: Int

  /// Parses `https://host[:port]`.
  ///
  /// - Throws: `APNsEndpointError` for any other text. A path, a user or a query is refused because
  ///   it would be silently ignored.
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
  static let google = APNsEndpoint(host: "fcm.googleapis.com")

  // The ports are those of the discontinued binary protocol; they now serve HTTP/2.
  static let appleProductionChannels = APNsEndpoint(
    host: "api-manage-broadcast.push.apple.com", port: 2196)
  static let appleSandboxChannels = APNsEndpoint(
    host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)

  /// The value of `:authority`; it has the port only if it is not 443.
  var authority: String { port == 443 ? host : "\(host):\(port)" }

  /// The URL with its port.
  package var description: String { "https://\(host):\(port)" }
}

/// A URL that can't be an endpoint of APNs or FCM.
package struct APNsEndpointError: Error, Hashable, CustomStringConvertible {
  /// The text as given.
  package let value: String

  /// The part of the message that describes the problem.
  package let problem: String

  /// False if the value may hold a password.
  let showsValue: Bool

  init(value: String, problem: String, showsValue: Bool = true) {
    self.value = value
    self.problem = problem
    // A text that is not a URL may hold a user and a password, too.
    self.showsValue = showsValue && !value.utf8.contains(UInt8(ascii: "@"))
  }

  /// One sentence with the value and the expected form; safe to log.
  package var description: String {
    let shown = showsValue ? "\"\(value)\"" : "the URL"
    return "\(shown) is not an endpoint: \(problem); expected https://host or https://host:port"
  }
}
