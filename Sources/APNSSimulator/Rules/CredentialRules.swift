/// Rules for what authenticates a request: the connection's client certificate, or without one the
/// provider token of the request.
enum CredentialRules {
  static let all: [Rule] = certificate + ProviderTokenRules.all

  private static let certificate: [Rule] = [
    Rule("the certificate names a topic") { push in
      guard let certificate = push.context.certificate, certificate.topics.isEmpty else {
        return nil
      }
      let detail = "no bundle ID in the certificate's subject \"\(certificate.commonName)\""
      return Refusal(.badCertificate, detail)
    },
    Rule("the certificate is for this environment") { push in
      let environment = push.context.environment
      guard let certificate = push.context.certificate,
        !certificate.environments.contains(environment)
      else { return nil }
      return Refusal(
        .badCertificateEnvironment, "\"\(certificate.commonName)\" is not for \(environment)")
    },
  ]

  /// Rules for the bundle ID of a push; its topic is known by then.
  static let pushScope: [Rule] = [
    Rule("the key covers the topic") { push in
      keyRefusal(push, bundleID: push.bundleID, .forbidden)
    },
    Rule("the certificate covers the topic") { push in
      certificateRefusal(push, bundleID: push.bundleID, .topicDisallowed)
    },
    Rule("the push type is one that certificates carry") { push in
      guard push.context.certificate != nil, let type = push.pushType, type.needsToken else {
        return nil
      }
      return Refusal(.topicDisallowed, "\(type) needs a provider token instead of a certificate")
    },
  ]

  /// Rules for the bundle ID in the path of a channel call or broadcast.
  static let callScope: [Rule] = [
    Rule("the key covers the path's app") { push in
      keyRefusal(push, bundleID: push.call?.bundleID ?? "", .topicMismatch)
    },
    Rule("the certificate covers the path's app") { push in
      certificateRefusal(push, bundleID: push.call?.bundleID ?? "", .topicMismatch)
    },
  ]

  private static func keyRefusal(_ push: Push, bundleID: String, _ reason: Reason) -> Refusal? {
    guard let id = push.keyID, let topics = push.context.keys[id]?.topics,
      !topics.contains(bundleID)
    else { return nil }
    let covered = topics.sorted().joined(separator: ", ")
    return Refusal(reason, "key \(id) covers \(covered), not \(bundleID)")
  }

  private static func certificateRefusal(
    _ push: Push, bundleID: String, _ reason: Reason
  ) -> Refusal? {
    guard let certificate = push.context.certificate, !certificate.topics.contains(bundleID) else {
      return nil
    }
    let covered = certificate.topics.joined(separator: ", ")
    return Refusal(reason, "the certificate covers \(covered), not \(bundleID)")
  }
}
