import SimulatorKit

/// Rules for `authorization`: RFC 7519 and 7518, as restricted by Apple.
///
/// They do not apply to a connection with a client certificate, on which the header is ignored.
enum ProviderTokenRules {
  static let maximumAgeSeconds = 3600
  static let maximumLeadSeconds = 3600
  /// Five minutes reveal a wrong clock while it can still be fixed.
  static let strictLeadSeconds = 300
  static let minimumSecondsBetweenUpdates = 1200

  static let all: [Rule] = [
    rule("authorization is there") { push in
      push.header("authorization") == nil
        ? Refusal(.missingProviderToken, "no authorization header") : nil
    },
    rule("authorization is a bearer JWT") { push in
      push.providerToken == nil
        ? invalid("expected `bearer ` and three base64url parts without padding") : nil
    },
    rule("alg is ES256") { push in
      push.providerToken?.algorithm == .string("ES256") ? nil : invalid("alg must be ES256")
    },
    rule("kid is a key") { push in
      let ids = push.context.keys.ids.joined(separator: " or ")
      return key(push) == nil ? invalid("kid must be \(ids)") : nil
    },
    rule("the key is not revoked") { push in
      key(push)?.isRevoked == true ? invalid("key \(push.keyID ?? "") is revoked") : nil
    },
    rule("iss is the key's team") { push in
      guard let team = key(push)?.team, push.providerToken?.issuer != .string(team) else {
        return nil
      }
      return invalid("iss must be \(team)")
    },
    rule("iat is a number of seconds") { push in
      push.providerToken?.issuedAtSeconds == nil ? invalid("iat must be epoch seconds") : nil
    },
    rule("iat is an integer", of: .jwt) { push in
      let issuedAt = push.providerToken?.issuedAt
      guard issuedAt?.integer != nil else {
        return invalid("iat must be a JSON integer, found \(issuedAt?.description ?? "none")")
      }
      return nil
    },
    rule("signature is the key's") { push in
      push.providerToken?.signatureIsValid == true
        ? nil : invalid("the signature is not the key's, or not 64 bytes of r and s")
    },
    rule("the key is for this environment") { push in
      let environment = push.context.environment
      guard key(push)?.environments.contains(environment) == false else { return nil }
      let detail = "key \(push.keyID ?? "") is not for \(environment)"
      return Refusal(.badEnvironmentKeyID, detail)
    },
    rule("iat is not in the future") { push in
      guard issuedAt(push) > push.context.now + maximumLeadSeconds else { return nil }
      return invalid("iat is more than \(maximumLeadSeconds) s ahead")
    },
    rule("iat is not ahead of the clock", of: .jwt) { push in
      guard issuedAt(push) > push.context.now + strictLeadSeconds else { return nil }
      return invalid("iat is more than \(strictLeadSeconds) s ahead")
    },
    rule("iat is within the hour") { push in
      guard issuedAt(push) < push.context.now - maximumAgeSeconds else { return nil }
      return Refusal(.expiredProviderToken, "iat is older than \(maximumAgeSeconds) s")
    },
    rule("the key is related to the connection's first") { push in
      guard let adopted = push.context.adoptedToken, let id = push.keyID,
        !push.context.keys.areRelated(adopted.token.keyID, id)
      else { return nil }
      let detail = "key \(id) on a connection that began with \(adopted.token.keyID)"
      return Refusal(.unrelatedKeyID, detail)
    },
    rule("one token per connection in 20 minutes") { push in
      guard let adopted = push.context.adoptedToken, adopted.token != push.tokenIdentity,
        push.context.now - adopted.adoptedAt < minimumSecondsBetweenUpdates
      else { return nil }
      let detail = "second token on this connection within \(minimumSecondsBetweenUpdates) s"
      return Refusal(.tooManyProviderTokenUpdates, detail)
    },
  ]

  private static func issuedAt(_ push: Push) -> Int {
    push.providerToken?.issuedAtSeconds ?? 0
  }

  private static func key(_ push: Push) -> ProviderKey? {
    push.keyID.flatMap { push.context.keys[$0] }
  }

  private static func rule(
    _ name: String, of part: Strictness? = nil,
    _ check: @escaping @Sendable (Push) -> Refusal?
  ) -> Rule {
    Rule(name, of: part) { push in push.context.certificate == nil ? check(push) : nil }
  }

  private static func invalid(_ detail: String) -> Refusal {
    Refusal(.invalidProviderToken, detail)
  }
}

/// A parsed JWT, before any rule has checked it; nothing in it depends on the time.
struct ProviderToken: Equatable, Sendable {
  let algorithm: JSON?
  let keyID: JSON?
  let issuer: JSON?
  let issuedAt: JSON?
  let signatureIsValid: Bool

  /// The time of `iat`; clients that APNs accepts also write a fraction or a quoted number.
  var issuedAtSeconds: Int? {
    switch issuedAt {
    case .integer(let seconds): seconds
    case .number(let seconds): Int(exactly: seconds.rounded(.down))
    case .string(let text): Int(text)
    default: nil
    }
  }

  /// - Parameter verifies: Returns whether the raw 64-byte r‖s signature (third argument) is valid
  ///   for the bytes (second argument) and the key (first argument).
  static func read(
    _ text: String, verifies: (String, [UInt8], [UInt8]) -> Bool
  ) -> ProviderToken? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3,
      let header = members(parts[0]),
      let claims = members(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return nil }
    let signed = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    let keyID = header["kid"]
    return ProviderToken(
      algorithm: header["alg"], keyID: keyID, issuer: claims["iss"], issuedAt: claims["iat"],
      signatureIsValid: verifies(keyID?.string ?? "", signed, signature))
  }

  private static func members(_ part: Substring) -> [String: JSON]? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    return (try? JSONParser.parse(bytes))?.object
  }
}

/// Parses JWTs and caches the results.
///
/// A client sends the same one with each push for most of an hour, and ECDSA costs more than
/// everything else that a push needs.
final class ProviderTokenReader {
  private static let capacity = 256

  private let keys: [String: SigningKey]
  private var readings: [String: ProviderToken?] = [:]

  init(keys: [String: SigningKey]) {
    self.keys = keys
  }

  func read(_ text: String) -> ProviderToken? {
    if let known = readings[text] { return known }
    let reading = ProviderToken.read(text) { id, signed, signature in
      keys[id]?.verifies(signed: signed, signature: signature) ?? false
    }
    if readings.count == Self.capacity { readings.removeAll(keepingCapacity: true) }
    readings[text] = .some(reading)
    return reading
  }
}
