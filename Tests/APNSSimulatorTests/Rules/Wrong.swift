import Testing

@testable import APNSSimulator

/// One mistake in a correct push, and the reason that must be returned.
struct Wrong: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: Reason
  let type: PushType
  let spoil: @Sendable (inout PushRequest, inout RuleContext) -> Void

  init(
    _ name: String, _ reason: Reason, type: PushType = .alert,
    spoil: @escaping @Sendable (inout PushRequest, inout RuleContext) -> Void
  ) {
    self.name = name
    self.reason = reason
    self.type = type
    self.spoil = spoil
  }

  static func header(
    _ name: String, _ value: String?, _ reason: Reason, type: PushType = .alert
  ) -> Wrong {
    Wrong("\(type) \(name): \(value ?? "missing")", reason, type: type) { request, _ in
      request.set(name, value)
    }
  }

  static func payload(_ text: String, _ reason: Reason, type: PushType = .alert) -> Wrong {
    Wrong("\(type) payload \(text.prefix(60))", reason, type: type) { request, _ in
      request.setBody(text)
    }
  }

  static func jwt(
    _ name: String, _ reason: Reason = .invalidProviderToken,
    _ change: @escaping @Sendable (inout JWT) -> Void
  ) -> Wrong {
    Wrong("JWT " + name, reason) { request, _ in
      var jwt = JWT(issuedAt: Fixture.now - 600)
      change(&jwt)
      request.set("authorization", "bearer " + Fixture.sign(jwt))
    }
  }

  static func device(
    _ name: String, _ reason: Reason, _ entry: DeviceToken
  ) -> Wrong {
    Wrong("token " + name, reason) { _, context in context.deviceTokens[Fixture.token] = entry }
  }

  func judged(by rules: [Rule] = PushRules.rules) -> RuleResult {
    var request = Fixture.request(type)
    var context = Fixture.context
    spoil(&request, &context)
    return PushRules.judge(Push(request, in: context), by: rules)
  }

  var testDescription: String { name }
}
