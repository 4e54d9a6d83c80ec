import Base

extension ServiceAccount {
  /// In seconds; Google accepts an hour at most.
  private static let assertionLife: Int64 = 3600

  /// The least scope that may send messages.
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  /// Returns a signed JWT that Google exchanges for an access token (RFC 7523).
  ///
  /// - Parameter issuedAt: In UNIX seconds, by Google's clock as far as it is known.
  func assertion(issuedAt: Int64) throws(PrivateKey.SigningFailure) -> [UInt8] {
    let header: [String: JSONValue] = [
      "alg": .string("RS256"), "typ": .string("JWT"), "kid": .string(keyID),
    ]
    let claims: [String: JSONValue] = [
      "iss": .string(clientEmail), "scope": .string(Self.scope), "aud": .string(tokenURI),
      "iat": .integer(issuedAt), "exp": .integer(issuedAt + Self.assertionLife),
    ]
    let point = UInt8(ascii: ".")
    let message =
      base64URL(JSONValue.object(header).json) + [point] + base64URL(JSONValue.object(claims).json)
    return message + [point] + base64URL(try key.signRS256(message))
  }
}
