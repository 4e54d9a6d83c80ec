import SimulatorKit

/// An error of the token endpoint (RFC 6749, section 5.2), with Google's texts.
struct OAuthError: Error, Equatable {
  let error: String
  let description: String

  static let undecodable = OAuthError(error: "invalid_request", description: "Bad Request")
  static let signature = grant("Invalid JWT Signature.")
  static let account = grant("Invalid grant: account not found")
  static let audience = grant("Invalid JWT: Failed audience check.")
  static let timeframe = grant(
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
      + "Check your iat and exp values in the JWT claim.")
  static let scope = OAuthError(
    error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")

  static func missing(_ claim: String, _ meaning: String) -> OAuthError {
    grant("Invalid JWT: \(claim) (\(meaning)) is not set.")
  }

  private static func grant(_ description: String) -> OAuthError {
    OAuthError(error: "invalid_grant", description: description)
  }

  var json: JSON {
    .object(["error": .string(error), "error_description": .string(description)])
  }
}

/// The assertion of a service account, checked in Google's order.
enum Assertion {
  private static let scopes: Set = [
    "https://www.googleapis.com/auth/firebase.messaging",
    "https://www.googleapis.com/auth/cloud-platform",
  ]
  private static let google = "https://oauth2.googleapis.com/token"
  /// How far a client's clock may be ahead, and behind.
  private static let ahead = 300
  private static let behind = 3600

  /// Returns the account; nil if its scope is one that Google does not know, for which there is an
  /// ID token and no access token.
  static func account(
    _ text: String, among accounts: [ServiceAccount], at now: Int
  ) throws(OAuthError) -> ServiceAccount? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .undecodable }
    let issuer = claims["iss"]?.string
    let account = accounts.first { $0.email == issuer }
    let signed = Array("\(parts[0]).\(parts[1])".utf8)
    let isSigned =
      header["alg"] == .string("RS256")
      && accounts.contains { $0.key.verifiesRS256(signed: signed, signature: signature) }
    guard isSigned else { throw .signature }
    guard let account, account.key.verifiesRS256(signed: signed, signature: signature) else {
      throw account == nil ? .account : .signature
    }
    try checkTimes(claims, at: now)
    guard let scope = claims["scope"]?.string, !scope.isEmpty else { throw .scope }
    // Google's own libraries name Google, whatever the file's token_uri is.
    guard [account.tokenURI, google].contains(claims["aud"]?.string) else { throw .audience }
    return scope.split(separator: " ").contains { scopes.contains(String($0)) } ? account : nil
  }

  private static func checkTimes(_ claims: [String: JSON], at now: Int) throws(OAuthError) {
    guard let issued = seconds(claims["iat"]) else { throw .missing("iat", "issued at") }
    guard let expires = seconds(claims["exp"]) else { throw .missing("exp", "expiration time") }
    let isReasonable =
      issued <= now + ahead && issued >= now - behind && expires > now
      && expires - issued <= 3600
    if !isReasonable { throw .timeframe }
  }

  /// Google also reads texts of digits.
  private static func seconds(_ value: JSON?) -> Int? {
    value?.whole ?? value?.string.flatMap { Int($0) }
  }

  private static func object(_ part: Substring) -> [String: JSON]? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    return (try? JSONParser.parse(bytes))?.object
  }
}
