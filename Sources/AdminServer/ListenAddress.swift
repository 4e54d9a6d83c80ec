internal import SystemSupport

/// The address that a server listens on: `127.0.0.1:9464`, `[::1]:9464`, `localhost:0` (any free
/// port).
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name or an IP address, without brackets.
  package var host: String
  /// The port; 0 stands for any free port.
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Parses `HOST:PORT`; returns nil for any other form.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    if host.isEmpty { return nil }
    self.init(host: String(host), port: port)
  }

  /// Whether only this machine can reach the address.
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    // A host name may begin with 127 and still resolve to any address.
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  /// The address in the form that `init(_:)` parses.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The error of a server that cannot listen on its address.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The address, the reason, and what to do.
  package var description: String
}

extension ListeningSocket {
  init(_ address: ListenAddress) throws(ListenError) {
    do throws(Failure) {
      try self.init(host: address.host, port: address.port)
    } catch {
      throw ListenError(description: "can't listen on \(address): \(error.reason)")
    }
  }
}
