/// A request that is parsed once for all rules.
struct Push {
  let request: PushRequest
  let context: RuleContext
  let providerToken: ProviderToken?
  let pushType: PushType?
  let payload: JSON?

  init(_ request: PushRequest, in context: RuleContext) {
    self.request = request
    self.context = context
    providerToken = Self.bearer(request).flatMap { context.readProviderToken($0) }
    let type = request.value("apns-push-type").flatMap { PushType(rawValue: $0) }
    pushType = type
    let limit =
      ChannelCall.owns(request.path)
      ? Self.maximumBroadcastBytes : (type ?? .voip).maximumPayloadBytes
    payload = request.bodyBytes > limit ? nil : try? JSONParser.parse(request.body)
  }

  static func bearer(_ request: PushRequest) -> String? {
    guard let value = request.value("authorization"), value.hasPrefix("bearer ") else { return nil }
    return String(value.dropFirst("bearer ".count))
  }

  /// The last part of `/3/device/<token>`; nil for any other path.
  var deviceToken: Substring? {
    let path = request.path
    if path == "/3/device" { return "" }
    guard path.hasPrefix("/3/device/") else { return nil }
    return path.dropFirst("/3/device/".count)
  }

  var aps: [String: JSON]? { payload?.object?["aps"]?.object }

  func header(_ name: String) -> String? { request.value(name) }
}
