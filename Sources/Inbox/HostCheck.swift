import SimulatorKit

/// Refuses requests that a page of another site makes by way of a visitor's browser.
///
/// Such a page can let its own name lead to this machine (DNS rebinding); the `Host` header then has
/// that name, and the browser states the page's origin with each call that changes something.
struct HostCheck {
  let isLoopback: Bool

  /// Returns why a request is refused; nil if it is not.
  func problem(with request: Request) -> String? {
    guard let host = request.value("host") else { return "no Host header" }
    guard isOwn(name(of: host)) else {
      return "Host is \"\(host)\"; use the address of this machine, such as 127.0.0.1"
    }
    if let origin = request.value("origin"), origin != "http://\(host)" {
      return "a call from a page of \(origin)"
    }
    // What a page loads has no Origin: an image, a script.
    if request.value("sec-fetch-site") == "cross-site" {
      return "a call from a page of another site"
    }
    return nil
  }

  private func name(of host: String) -> Substring {
    // An address of IPv6 is in brackets, and this port has none.
    guard let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber)
    else { return host[...] }
    return host[..<colon]
  }

  private func isOwn(_ name: Substring) -> Bool {
    if name.lowercased() == "localhost" || Endpoint.address(name) != nil { return true }
    // A name without a dot is of this network, such as a container's.
    return !isLoopback && !name.isEmpty && !name.contains(".")
  }
}
