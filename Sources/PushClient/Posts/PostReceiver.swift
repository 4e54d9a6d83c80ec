package import RideCore

/// A receiver of posts: where it is, and how its posts are signed.
package struct PostReceiver: Sendable {
  package let url: String
  package let signer: WebhookSigner

  /// - Parameter url: An https URL, or an http one of the loopback interface. Nil for any other.
  package init?(url: String, signer: WebhookSigner) {
    guard Self.isAllowed(url) else { return nil }
    self.url = url
    self.signer = signer
  }

  /// Whether it is reached by https.
  var isEncrypted: Bool { url.lowercased().hasPrefix("https:") }

  /// Whether posts may be sent there: a person's data leaves this machine encrypted only.
  package static func isAllowed(_ url: String) -> Bool {
    let bytes = url.utf8
    if bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f }) { return false }
    func rest(after scheme: String) -> Substring? {
      url.lowercased().hasPrefix(scheme) ? url.dropFirst(scheme.count) : nil
    }
    func authority(_ rest: Substring) -> Substring {
      rest.prefix { !["/", "?", "#"].contains($0) }
    }
    if let rest = rest(after: "https://") { return !authority(rest).isEmpty }
    guard let rest = rest(after: "http://") else { return false }
    let host = authority(rest)
    // A name before an @ could pass for the host.
    if host.contains("@") || host.contains("\\") { return false }
    return ["127.0.0.1", "localhost", "[::1]"].contains { name in
      host.lowercased() == name || host.lowercased().hasPrefix(name + ":")
    }
  }
}
