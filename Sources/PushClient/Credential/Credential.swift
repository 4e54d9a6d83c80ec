/// What the connections of one pool present: all pushes on them use this and nothing else.
///
/// APNs refuses a second key on one connection (`UnrelatedKeyIdInToken`).
package enum Credential: Hashable, Sendable, CustomStringConvertible {
  /// Provider tokens signed with this key.
  case key(SigningKey)

  /// A client certificate in the TLS handshake, and no provider token.
  case certificate(ClientCertificate)

  /// Access tokens that Google gives for this account of a Firebase project.
  case serviceAccount(ServiceAccount)

  /// The IDs or the subject's name, without any secret.
  package var description: String {
    switch self {
    case .key(let key): "\(key)"
    case .certificate(let certificate): "\(certificate)"
    case .serviceAccount(let account): "service account \(account)"
    }
  }

  /// A short name for logs and metrics: the key's ID, the certificate's bundle ID or subject, or
  /// project and key of the service account.
  package var name: String {
    switch self {
    case .key(let key): key.keyID
    case .certificate(let certificate):
      "certificate \(certificate.bundleID ?? certificate.commonName)"
    case .serviceAccount(let account): "\(account)"
    }
  }
}
