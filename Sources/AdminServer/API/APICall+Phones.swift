import Base
import RideCore

extension APICall {
  /// Checks what a phone's token and its platform require of each other, as
  /// `ridepulse.register_device` does.
  static func checkPhone(_ arguments: [String: JSONValue]) throws(APIError) {
    guard case .string(let token)? = arguments["token"],
      let registration = FCMRegistration(token)
    else { return }
    let field = APIField("token", .phoneToken)
    if arguments["platform"] != .string(Platform.android.rawValue) {
      if DeviceToken(token) != nil { return }
      throw field.invalid(
        APIField.notOfAPNs + (registration.isOfFCM ? "; an FCM token needs platform android" : ""))
    }
    if token.utf8.count >= 64, token.allSatisfy(\.isHexDigit) {
      throw field.invalid("looks like one of APNs; send platform ios or leave it out")
    }
    if arguments["environment"] != nil {
      throw APIField("environment", .environment, isRequired: false).invalid(
        "is not for platform android: FCM has no environments; leave it out")
    }
  }

  /// Returns the parameters after the path as arguments of the SQL function.
  func queried(
    _ values: [String: String], apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    if query.isEmpty { return [:] }
    try refuseStray(values.keys, known: query.map(\.name)) { "there is no parameter \($0)" }
    var arguments: [String: JSONValue] = [:]
    for field in query {
      guard let value = values[field.name] else { continue }
      arguments[field.name] = try field.checked(.string(value), apps: apps)
    }
    return arguments
  }
}
