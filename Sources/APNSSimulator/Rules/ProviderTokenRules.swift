/// Rules for `authorization`: RFC 7519 and 7518, as restricted by Apple.
enum ProviderTokenRules {
  static let maximumAgeSeconds = 3600
  /// Apple allows an hour of skew; five minutes reveal a wrong clock while it can still be fixed.
  static let maximumLeadSeconds = 300
  static let minimumSecondsBetweenUpdates = 1200

  static let all: [Rule] = [
    Rule("authorization is there") { push in
      push.header("authorization") == nil
        ? Refusal(.missingProviderToken, "no authorization header") : nil
    },
    Rule("authorization is a bearer JWT") { push in
      push.providerToken == nil
        ? invalid("expected `bearer ` and three base64url parts without padding") : nil
    },
    Rule("alg is ES256") { push in
      push.providerToken?.algorithm == .string("ES256") ? nil : invalid("alg must be ES256")
    },
    Rule("kid is the key") { push in
      let keyID = push.context.keyID
      return push.providerToken?.keyID == .string(keyID) ? nil : invalid("kid must be \(keyID)")
    },
    Rule("iss is the team") { push in
      let teamID = push.context.teamID
      return push.providerToken?.issuer == .string(teamID) ? nil : invalid("iss must be \(teamID)")
    },
    Rule("iat is an integer") { push in
      let issuedAt = push.providerToken?.issuedAt
      guard issuedAt?.integer != nil else {
        return invalid("iat must be a JSON integer, found \(issuedAt?.description ?? "none")")
      }
      return nil
    },
    Rule("signature is the key's") { push in
      push.providerToken?.signatureIsValid == true
        ? nil : invalid("the signature is not the key's, or not 64 bytes of r and s")
    },
    Rule("iat is not in the future") { push in
      guard issuedAt(push) > push.context.now + maximumLeadSeconds else { return nil }
      return invalid("iat is more than \(maximumLeadSeconds) s ahead")
    },
    Rule("iat is within the hour") { push in
      guard issuedAt(push) < push.context.now - maximumAgeSeconds else { return nil }
      return Refusal(.expiredProviderToken, "iat is older than \(maximumAgeSeconds) s")
    },
    Rule("one token per connection in 20 minutes") { push in
      guard let adopted = push.context.adoptedToken, adopted.issuedAt != issuedAt(push),
        push.context.now - adopted.adoptedAt < minimumSecondsBetweenUpdates
      else { return nil }
      let detail = "second iat on this connection within \(minimumSecondsBetweenUpdates) s"
      return Refusal(.tooManyProviderTokenUpdates, detail)
    },
  ]

  private static func issuedAt(_ push: Push) -> Int {
    push.providerToken?.issuedAt?.integer ?? 0
  }

  private static func invalid(_ detail: String) -> Refusal {
    Refusal(.invalidProviderToken, detail)
  }
}
