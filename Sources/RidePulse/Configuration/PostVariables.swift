import PushClient
import RideCore

/// The receivers of posts in the environment.
struct PostVariables {
  /// By the URL's variable.
  private(set) var receivers: [String: PostReceiver] = [:]
  /// The variables that are set; a secret's is among them if its file is.
  private(set) var variables: Set<String> = []

  /// Reads `RIDEPULSE_POST_<NAME>_URL`, `RIDEPULSE_POST_<NAME>_SECRET` and the files of secrets.
  ///
  /// - Throws: `CommandFailure` that names the invalid variable or file, and no part of a secret.
  init(_ environment: [String: String]) throws {
    variables = Self.variables(environment)
    for name in variables.sorted() where name.hasSuffix("_URL") {
      guard let url = environment.nonEmpty(name) else { continue }
      guard PostReceiver.isAllowed(url) else {
        throw CommandFailure(
          "\(name): expected an https URL, or http://127.0.0.1 or another loopback address")
      }
      let secret = try SecretVariable(
        name.dropLast("_URL".count) + "_SECRET", in: environment,
        prefixes: [WebhookSigner.prefix])
      guard let secret else { continue }
      guard let signer = WebhookSigner(secrets: secret.text) else {
        throw CommandFailure(
          "\(secret.name): expected whsec_ and base64 of 24 to 64 bytes; two, separated by a comma, "
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

  /// Returns the names of the variables that are set, of a secret's file that of the secret.
  static func variables(_ environment: [String: String]) -> Set<String> {
    let names = environment.filter { $0.key.hasPrefix("RIDEPULSE_POST_") && !$0.value.isEmpty }.keys
    let file = "_SECRET" + SecretVariable.fileEnding
    return Set(
      names.map { name in
        name.hasSuffix(file) ? String(name.dropLast(SecretVariable.fileEnding.count)) : name
      }.filter { $0.hasSuffix("_URL") || $0.hasSuffix("_SECRET") })
  }
}
