/// A parsed JWT, before any rule has checked it; nothing in it depends on the time.
struct ProviderToken: Equatable, Sendable {
  let algorithm: JSON?
  let keyID: JSON?
  let issuer: JSON?
  let issuedAt: JSON?
  let signatureIsValid: Bool

  /// - Parameter verifies: Returns whether the raw 64-byte r‖s signature (second argument) is valid
  ///   for the bytes (first argument).
  static func read(_ text: String, verifies: ([UInt8], [UInt8]) -> Bool) -> ProviderToken? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3,
      let header = members(parts[0]),
      let claims = members(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return nil }
    let signed = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    return ProviderToken(
      algorithm: header["alg"], keyID: header["kid"], issuer: claims["iss"],
      issuedAt: claims["iat"], signatureIsValid: verifies(signed, signature))
  }

  private static func members(_ part: Substring) -> [String: JSON]? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    return (try? JSONParser.parse(bytes))?.object
  }
}
