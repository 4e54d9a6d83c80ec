import Glibc

/// An IPv4 address and a port to listen on.
package struct Endpoint: Equatable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  /// This machine alone.
  package static func loopback(_ port: UInt16) -> Endpoint {
    Endpoint(host: "127.0.0.1", port: port)
  }

  private init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Parses `HOST:PORT`: an IPv4 address or `localhost`, and 0 for a free port.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
    self.init(host: parts[0] == "localhost" ? "127.0.0.1" : String(parts[0]), port: port)
    if address == nil { return nil }
  }

  package var description: String { "\(host):\(port)" }

  package func with(port: UInt16) -> Endpoint { Endpoint(host: host, port: port) }

  /// Whether only programs of this machine reach it.
  package var isLoopback: Bool { host.hasPrefix("127.") }

  /// The address in network order.
  var address: UInt32? { Self.address(host) }

  /// Returns an IPv4 address in network order; nil if the text is none.
  package static func address(_ text: some StringProtocol) -> UInt32? {
    var address = in_addr()
    return unsafe inet_pton(AF_INET, String(text), &address) == 1 ? address.s_addr : nil
  }
}
