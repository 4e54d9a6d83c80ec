package import Base
import Foundation

/// Signs posts as Standard Webhooks 1.0 describes it.
package struct WebhookSigner: Sendable {
  private let keys: [HMAC]

  /// - Parameter secrets: `whsec_` and base64 of 24 to 64 bytes; several, separated by commas, during
  ///   a rotation. Nil for anything else.
  package init?(secrets: String) {
    var keys: [HMAC] = []
    for secret in secrets.split(separator: ",", omittingEmptySubsequences: false) {
      let secret = secret.trimmingCharacters(in: .whitespaces)
      guard secret.hasPrefix(Self.prefix),
        let key = Data(base64Encoded: String(secret.dropFirst(Self.prefix.count))),
        (24...64).contains(key.count)
      else { return nil }
      keys.append(HMAC(key: Array(key)))
    }
    self.keys = keys
  }

  /// The beginning of every secret.
  package static let prefix = "whsec_"

  /// The headers of one attempt.
  package func headers(
    id: PushID, at time: Timestamp, body: [UInt8]
  ) -> [(name: String, value: String)] {
    // Whole seconds since 1970.
    let seconds = String(time.epochSeconds)
    let message = Array("\(id).\(seconds).".utf8) + body
    let signatures = keys.map { "v1," + Data($0.code(message)).base64EncodedString() }
    return [
      ("webhook-id", id.description), ("webhook-timestamp", seconds),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }
}
