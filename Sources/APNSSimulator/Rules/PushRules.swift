/// One check; the name is for people, and nil means that the rule is satisfied.
struct Rule: Sendable {
  let name: String
  let check: @Sendable (Push) -> Refusal?

  init(_ name: String, _ check: @escaping @Sendable (Push) -> Refusal?) {
    self.name = name
    self.check = check
  }
}

struct RuleResult: Equatable, Sendable {
  let refusal: Refusal?
  /// The `iat` of a token that passed all rules for provider tokens, whatever else was wrong.
  let provenIssuedAt: Int?
}

/// All rules for pushes to devices: one ordered list, of which the first refusal counts.
enum PushRules {
  static let rules: [Rule] =
    RequestRules.all + ProviderTokenRules.all + HeaderRules.all + PayloadRules.all
    + AlertRules.all + BackgroundRules.all + LiveActivityRules.all + DeviceTokenRules.all

  static func judge(_ request: PushRequest, in context: RuleContext) -> RuleResult {
    judge(Push(request, in: context))
  }

  /// The number of rules up to the one after which the provider token is proved valid.
  static let proven = RequestRules.all.count + ProviderTokenRules.all.count

  static func judge(
    _ push: Push, by rules: [Rule] = Self.rules, proven: Int = Self.proven
  ) -> RuleResult {
    for (index, rule) in rules.enumerated() {
      guard let refusal = rule.check(push) else { continue }
      let issuedAt = index < proven ? nil : push.providerToken?.issuedAt?.integer
      return RuleResult(refusal: refusal, provenIssuedAt: issuedAt)
    }
    return RuleResult(refusal: nil, provenIssuedAt: push.providerToken?.issuedAt?.integer)
  }
}
