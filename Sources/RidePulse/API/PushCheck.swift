import AdminServer
import Base
import RideCore

/// Checks the fields of a posted push against each other.
enum PushCheck {
  /// Fields that a broadcast does not take: its push type is fixed, its channel has an environment,
  /// and APNs collapses no broadcast.
  private static let ofTokens = ["push_type", "environment", "collapse_id"]

  /// - Throws: the first error found.
  static func check(_ arguments: [String: JSONValue]) throws(APIError) {
    let isBroadcast = arguments["channel_id"] != nil
    if !isBroadcast, arguments["token"] == nil {
      throw APIError(
        .missingField, "token is missing; send it, or channel_id for a broadcast", field: "token")
    }
    if isBroadcast, arguments["token"] != nil {
      throw APIError(
        .invalidValue, "both channel_id and token are given; send one of them", field: "channel_id")
    }
    if isBroadcast, let stray = ofTokens.first(where: { arguments[$0] != nil }) {
      throw APIError(
        .invalidValue, "\(stray) is for a push to a token; leave it out of a broadcast",
        field: stray)
    }
    let target = try target(arguments)
    let longest = target.longestStorage
    if case .integer(let seconds) = arguments["expires"], .seconds(seconds) > longest {
      throw APIError(
        .invalidValue,
        "expires is longer than \(target.service) stores it; send \(longest.rideText) at most",
        field: "expires")
    }
    let problem = RawPushProblem.of(
      pushType(arguments, isBroadcast: isBroadcast), priority: priority(arguments),
      payload: payload(arguments).utf8, to: target)
    if let problem {
      let field = problem.field.rawValue
      throw APIError(.invalidValue, "\(field) \(problem.text)", field: field)
    }
  }

  /// The recipient, of which an Android phone has no environment.
  private static func target(
    _ arguments: [String: JSONValue]
  ) throws(APIError) -> RawPush.Target {
    if case .string(let text)? = arguments["channel_id"], let channel = ChannelID(text) {
      return .channel(channel)
    }
    guard case .string(let text)? = arguments["token"], let target = RawPush.Target(token: text)
    else {
      throw APIError(
        .invalidValue,
        "token is not a token: 2 to 512 hexadecimal digits, an even number of them, or one of FCM",
        field: "token")
    }
    if case .registration = target, arguments["environment"] != nil {
      throw APIError(
        .invalidValue, "environment is not for an Android phone: FCM has none; leave it out",
        field: "environment")
    }
    return target
  }

  private static func pushType(_ arguments: [String: JSONValue], isBroadcast: Bool) -> PushType {
    if isBroadcast { return .liveactivity }
    guard case .string(let text) = arguments["push_type"] else { return .alert }
    return PushType(rawValue: text) ?? .alert
  }

  private static func priority(_ arguments: [String: JSONValue]) -> PushPriority? {
    guard case .integer(let number) = arguments["priority"] else { return nil }
    return Int(exactly: number).flatMap(PushPriority.init)
  }

  private static func payload(_ arguments: [String: JSONValue]) -> String {
    if case .string(let text) = arguments["payload"] { text } else { "" }
  }
}
