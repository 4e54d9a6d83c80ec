import Foundation

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

  /// The event that carries the push to the engine.
  package static let event = "legacy_push"

  /// The rule name that the ledger records.
  static let rule = "legacy"

  /// The prefix that distinguishes a phone's pseudo ride from the service's own rides.
  package static let ridePrefix = "legacy:"

  /// The push ID, which is the same if the frame is sent again; nil if the frame has no identifier.
  package var id: PushID? {
    identifier.map { identifier in
      PushID(
        of: Self.rule, app.rawValue, token.hex, payload,
        expiration.map { String($0) } ?? "", String(identifier))
    }
  }

  /// Returns the payload; nil if it is not a JSON object that Postgres can store.
  package static func payload(_ bytes: some Collection<UInt8>) -> String? {
    // Foundation would read a text with NUL bytes as UTF-16.
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self),
      case .object = JSONValue(json: bytes)
    else { return nil }
    return text
  }

  /// The push type, which the legacy protocol has no field for.
  ///
  /// Apple displays nothing of a background push, and accepts it at priority 5 only.
  var pushType: PushType {
    guard priority == .powerAware,
      case .object(let aps) = JSONValue(json: payload.utf8)?.value(at: ["aps"]),
      let flag = aps["content-available"], flag != .integer(0), flag != .bool(false),
      aps["alert"] == nil, aps["badge"] == nil, aps["sound"] == nil
    else { return .alert }
    return .background
  }

  /// Returns the time after which the push is no longer sent, if it was received at `start`.
  func validUntil(from start: Timestamp) -> Timestamp {
    switch expiration {
    case nil: start + .seconds(86_400)
    case 0: start + .seconds(30)
    // Apple stores a push for 30 days at most.
    case let seconds?: min(Timestamp(epochSeconds: Int64(seconds)), start + .seconds(30 * 86_400))
    }
  }
}

// The data of the event.
extension LegacyPush {
  private struct EventData: Codable {
    var app: String
    var token: String
    var payload: String
    var expiration: UInt32?
    var priority: Int
    var identifier: UInt32?
    /// Added when the event is committed.
    var pushID: PushID?

    enum CodingKeys: String, CodingKey {
      case app, token, payload, expiration, priority, identifier
      case pushID = "apns_id"
    }
  }

  /// The data of the event, as a JSON object.
  package var eventData: String {
    let words = EventData(
      app: app.rawValue, token: token.hex, payload: payload, expiration: expiration,
      priority: priority.rawValue, identifier: identifier)
    // Only texts and whole numbers, which always have a JSON form.
    return (try? JSONEncoder().encode(words)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Decodes the data of an event; nil if it was not written by `eventData`.
  static func read(_ event: RideEvent) -> (push: LegacyPush, id: PushID)? {
    guard let words = try? JSONDecoder().decode(EventData.self, from: Data(event.data.utf8)),
      let token = DeviceToken(words.token), let priority = PushPriority(rawValue: words.priority),
      payload(words.payload.utf8) != nil
    else { return nil }
    let push = LegacyPush(
      app: App(rawValue: words.app), token: token, payload: words.payload,
      expiration: words.expiration, priority: priority, identifier: words.identifier)
    return (push, words.pushID ?? PushID(of: "event", String(event.id), rule, token.hex))
  }
}

extension RideEvent {
  /// Returns whether the event carries a legacy push, which no rule matches.
  func isLegacyPush(of ride: RideID) -> Bool {
    name == LegacyPush.event && ride.text.utf8.starts(with: LegacyPush.ridePrefix.utf8)
  }
}
