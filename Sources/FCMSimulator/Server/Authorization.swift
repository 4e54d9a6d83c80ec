import SimulatorKit

/// The bearer token of a request.
enum Authorization {
  private static let expected =
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
    + "See https://developers.google.com/identity/sign-in/web/devconsole-project."

  /// Returns the project whose account the token belongs to.
  static func project(
    of request: Request, _ tokens: AccessTokens, at now: Int
  ) throws(Refusal) -> String {
    guard let value = request.value("authorization"),
      value.prefix("bearer ".count).lowercased() == "bearer "
    else {
      throw .unauthenticated(
        "Request is missing required authentication credential. " + expected,
        "CREDENTIALS_MISSING")
    }
    let text = "Request had invalid authentication credentials. " + expected
    switch tokens.state(of: String(value.dropFirst("bearer ".count)), at: now) {
    case .valid(let project): return project
    case .expired: throw .unauthenticated(text, "ACCESS_TOKEN_EXPIRED")
    case .unknown: throw .unauthenticated(text, nil)
    }
  }
}

/// The path `/v1/projects/ID/messages:send`.
enum SendPath {
  static func project(of path: Substring) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[1] == "v1", parts[2] == "projects", !parts[3].isEmpty,
      parts[4] == "messages:send"
    else { return nil }
    return String(parts[3])
  }
}
