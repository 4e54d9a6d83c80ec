import Base

/// A push of the legacy binary protocol, as in the sender's frame.
package struct LegacyPush: Hashable, Sendable {
  /// The sender's app.
  package var app: App
  /// The phone's token.
  package var token: DeviceToken
  /// The JSON text, byte for byte as received.
  package var payload: String
  /// When APNs must stop storing it, in seconds since 1970.
  ///
  /// 0 means that it is never stored, nil that the frame had no expiration.
  package var expiration: UInt32?
  /// The priority that the sender chose.
  package var priority: PushPriority
  /// The sender's identifier of the push; nil if the frame had none.
  package var identifier: UInt32?

  package init(
    app: App, token: DeviceToken, payload: String, expiration: UInt32? = nil,
    priority: PushPriority = .immediate, identifier: UInt32? = nil
  ) {
    self.app = app
    self.token = token
    self.payload = payload
    self.expiration = expiration
    self.priority = priority
    self.identifier = identifier
  }

  /// The push ID, which is the same if the frame is sent again; nil if the frame has no identifier.
  package var id: PushID? {
    identifier.map { identifier in
      PushID(
        of: RawPush.Source.legacy.rule, app.rawValue, token.hex, payload,
        expiration.map { String($0) } ?? "", String(identifier))
    }
  }

  /// The push as the engine handles it.
  package var raw: RawPush {
    var push = RawPush(
      .legacy, app: app, target: .device(token), payload: payload,
      pushType: Self.pushType(of: payload, priority), priority: priority, expiration: expiration)
    push.identifier = identifier
    push.isRegistered = true
    return push
  }

  /// Returns the payload; nil if it is not a JSON object that Postgres can store.
  package static func payload(_ bytes: some Collection<UInt8>) -> String? {
    // Foundation would read a text with NUL bytes as UTF-16.
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self),
      case .object = JSONValue(json: text.utf8)
    else { return nil }
    return text
  }

  /// Returns the push type, which the legacy protocol has no field for.
  ///
  /// Apple displays nothing of a background push, and accepts it at priority 5 only.
  static func pushType(of payload: String, _ priority: PushPriority?) -> PushType {
    guard priority == .powerAware,
      case .object(let aps) = JSONValue(json: payload.utf8)?.value(at: ["aps"]),
      let flag = aps["content-available"], flag != .integer(0), flag != .bool(false),
      aps["alert"] == nil, aps["badge"] == nil, aps["sound"] == nil
    else { return .alert }
    return .background
  }
}
