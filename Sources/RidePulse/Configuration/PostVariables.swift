import APNSClient
import RideCore

/// The receivers of posts in the environment.
struct PostVariables {
  /// By the URL's variable.
  private(set) var receivers: [String: PostReceiver] = [:]
  /// The variables that are set.
  private(set) var variables: Set<String> = []

  /// Reads `RIDEPULSE_POST_<NAME>_URL` and `RIDEPULSE_POST_<NAME>_SECRET`.
  ///
  /// - Throws: `CommandFailure` that names the invalid variable, and no part of a secret.
  init(_ environment: [String: String]) throws {
    variables = Self.variables(environment)
    for name in variables.sorted() where name.hasSuffix("_URL") {
      guard let url = environment.nonEmpty(name) else { continue }
      guard PostReceiver.isAllowed(url) else {
        throw CommandFailure(
          "\(name): expected an https URL, or http://127.0.0.1 or another loopback address")
      }
      let secretName = name.dropLast("_URL".count) + "_SECRET"
      guard let secret = environment.nonEmpty(String(secretName)) else { continue }
      guard let signer = WebhookSigner(secrets: secret) else {
        throw CommandFailure(
          "\(secretName): expected whsec_ and base64 of 24 to 64 bytes; two, separated by a comma, "
            + "during a rotation")
      }
      receivers[name] = PostReceiver(url: url, signer: signer)
    }
  }

  /// Returns the receivers that rules post to and that lack a variable, with the first such rule.
  static func lacking(
    _ rules: RuleSet, _ environment: [String: String]
  ) -> [(rule: Rule, receiver: String, variable: String)] {
    let receivers = PostReceivers(variables(environment))
    var seen: Set<String> = []
    return rules.rules.compactMap { rule in
      guard let name = rule.what.post?.receiver, let variable = receivers.missing(name),
        seen.insert(name).inserted
      else { return nil }
      return (rule, name, variable)
    }
  }

  /// Returns the names of the variables that are set.
  static func variables(_ environment: [String: String]) -> Set<String> {
    Set(
      environment.filter { name, value in
        name.hasPrefix("RIDEPULSE_POST_") && !value.isEmpty
          && (name.hasSuffix("_URL") || name.hasSuffix("_SECRET"))
      }.keys)
  }
}
