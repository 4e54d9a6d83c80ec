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
