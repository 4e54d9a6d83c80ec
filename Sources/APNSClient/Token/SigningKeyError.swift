/// Why a signing key can't be used; no case contains any part of the key.
package enum SigningKeyError: Error, Hashable, Sendable {
  /// The file can't be read; the reason is the system's text.
  case unreadable(path: String, reason: String)

  /// The file holds no unencrypted private key in PEM form.
  case notPrivateKey(path: String)

  /// The file holds a key of another type.
  case notP256(path: String, found: String)

  /// The key ID is not ten characters of A-Z and 0-9.
  case badKeyID(String)

  /// The team ID is not ten characters of A-Z and 0-9.
  case badTeamID(String)

  /// OpenSSL failed to sign; the text is its own.
  case signing(String)
}

extension SigningKeyError: CustomStringConvertible {
  /// The problem and the expected form; safe to log.
  package var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "can't read the APNs signing key \(path): \(reason)"
    case .notPrivateKey(let path):
      "\(path) holds no APNs signing key: expected the .p8 file from Apple, which begins with "
        + "\"-----BEGIN PRIVATE KEY-----\""
    case .notP256(let path, let found):
      "\(path) holds a key of type \(found): expected an EC key on P-256 (prime256v1), as in "
        + "Apple's .p8 file"
    case .badKeyID(let value):
      "\"\(value)\" is no APNs key ID: expected 10 characters of A-Z and 0-9"
    case .badTeamID(let value):
      "\"\(value)\" is no Apple team ID: expected 10 characters of A-Z and 0-9"
    case .signing(let reason):
      "OpenSSL could not sign the provider token: \(reason)"
    }
  }
}
