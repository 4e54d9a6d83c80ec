import Foundation

/// A push of the old binary protocol, as a sender's frame states it.
package struct LegacyPush: Hashable, Sendable {
  /// The app that the sender is of.
  package var app: App
  /// The phone.
  package var token: DeviceToken
  /// The JSON text, byte for byte as it came.
  package var payload: String
  /// Until when it may be stored, in seconds since 1970: 0 is never, nil where the frame had none.
  package var expiration: UInt32?
  /// How urgent the sender calls it.
  package var priority: PushPriority
  /// By what the sender knows it; nil where the frame had none.
  package var identifier: UInt32?

  /// A push of the old binary protocol.
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

  /// The event that brings it to the engine.
  package static let event = "legacy_push"

  /// The rule that the ledger names.
  static let rule = "legacy"

  /// What tells its phone's pseudo ride from a service's own rides.
  package static let ridePrefix = "legacy:"

  /// The same for a frame that is sent again; nil where the frame has nothing to know it by.
  package var id: PushID? {
    identifier.map { identifier in
      PushID(
        of: Self.rule, app.rawValue, token.hex, payload,
        expiration.map { String($0) } ?? "", String(identifier))
    }
  }

  /// The payload; nil where it is not a JSON object that Postgres can keep.
  package static func payload(_ bytes: some Collection<UInt8>) -> String? {
    // Foundation would take a text with NULs for UTF-16.
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self),
      case .object = JSONValue(json: bytes)
    else { return nil }
    return text
  }

  /// The push type that the old protocol had no word for.
  ///
  /// Apple shows nothing of a background push, and takes it at priority 5 only.
  var pushType: PushType {
    guard priority == .powerAware,
      case .object(let aps) = JSONValue(json: payload.utf8)?.value(at: ["aps"]),
      let flag = aps["content-available"], flag != .integer(0), flag != .bool(false),
      aps["alert"] == nil, aps["badge"] == nil, aps["sound"] == nil
    else { return .alert }
    return .background
  }

  /// Past this instant it is not sent any more, where it came at another.
  func validUntil(from start: Timestamp) -> Timestamp {
    switch expiration {
    case nil: start + .seconds(86_400)
    case 0: start + .seconds(30)
    // Apple stores nothing for longer.
    case let seconds?: min(Timestamp(epochSeconds: Int64(seconds)), start + .seconds(30 * 86_400))
    }
  }
}

// As the data of its event.
extension LegacyPush {
  private struct Words: Codable {
    var app: String
    var token: String
    var payload: String
    var expiration: UInt32?
    var priority: Int
    var identifier: UInt32?
    /// Comes in when the event is committed.
    var pushID: PushID?

    enum CodingKeys: String, CodingKey {
      case app, token, payload, expiration, priority, identifier
      case pushID = "apns_id"
    }
  }

  /// The data of its event, as a JSON object.
  package var eventData: String {
    let words = Words(
      app: app.rawValue, token: token.hex, payload: payload, expiration: expiration,
      priority: priority.rawValue, identifier: identifier)
    // Texts and whole numbers only, which JSON can always say.
    return (try? JSONEncoder().encode(words)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Reads the data of an event; nil where somebody else has written it.
  static func read(_ event: RideEvent) -> (push: LegacyPush, id: PushID)? {
    guard let words = try? JSONDecoder().decode(Words.self, from: Data(event.data.utf8)),
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
  /// Whether it is a push of an old sender, and no rule's business.
  func isLegacyPush(of ride: RideID) -> Bool {
    name == LegacyPush.event && ride.text.utf8.starts(with: LegacyPush.ridePrefix.utf8)
  }
}
