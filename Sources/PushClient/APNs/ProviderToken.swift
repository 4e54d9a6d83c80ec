import COpenSSL

/// A signed provider token.
struct ProviderToken: Hashable, Sendable {
  /// The token's `iat`, in UNIX seconds.
  let issuedAt: Int64

  /// The value of `authorization`: `bearer ` and the JWT.
  let authorization: [UInt8]

  init(signedBy key: SigningKey, issuedAt: Int64) throws(SigningKeyError) {
    self.issuedAt = issuedAt
    // Key ID and team ID consist of A-Z and 0-9, so no JSON escape is needed. `iat` must be a
    // number; Apple tolerates a quoted one today.
    let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
    let claims = #"{"iss":"\#(key.teamID)","iat":\#(issuedAt)}"#
    var message = base64URL(Array(header.utf8))
    message.append(UInt8(ascii: "."))
    message += base64URL(Array(claims.utf8))
    let signature = try key.key.sign(message)
    authorization = Array("bearer ".utf8) + message + [UInt8(ascii: ".")] + base64URL(signature)
  }
}

/// Returns Base64 with the URL alphabet and without padding (RFC 7515, 2).
func base64URL(_ bytes: [UInt8]) -> [UInt8] {
  // OpenSSL also writes a terminating zero.
  var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
  let length = unsafe Int(EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count)))
  text.removeLast(text.count - length)
  while text.last == UInt8(ascii: "=") { text.removeLast() }
  return text.map { byte in
    switch byte {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: byte
    }
  }
}
