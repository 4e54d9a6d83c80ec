import Base
import Foundation

/// A push whose address, payload and headers come from its sender and not from a rule.
package struct RawPush: Hashable, Sendable {
  /// The call by which a raw push is committed.
  ///
  /// The raw value is the rule's name in the ledger and the prefix of the pseudo ride.
  package enum Source: String, CaseIterable, Hashable, Sendable {
    /// A frame of the legacy binary protocol.
    case legacy
    /// `ridepulse.push`.
    case push
    /// `ridepulse.broadcast`.
    case broadcast
  }

  /// The recipient.
  package enum Target: Hashable, Sendable {
    /// One iPhone, or one card on it.
    case device(DeviceToken)
    /// One Android phone.
    case registration(FCMRegistration)
    /// All subscribers of a broadcast channel.
    case channel(ChannelID)
  }

  package var source: Source
  package var app: App
  package var target: Target
  /// The JSON text as received: what APNs gets byte for byte, or FCM's message without the phone.
  package var payload: String
  package var pushType: PushType
  package var priority: PushPriority
  /// When the service must stop storing it, in seconds since 1970.
  ///
  /// 0 means that it is never stored, nil that the sender stated no expiration.
  package var expiration: UInt32?
  /// False if it must not be stored although RidePulse retries it until `expiration`.
  package var isStored = true
  /// The APNs environment that the sender states; nil for that of the phone or the service.
  package var environment: APNsEnvironment?
  package var collapseID: CollapseID?
  /// Whether the token belonged to a known phone when the push was committed.
  package var isRegistered = false
  /// The sender's identifier of a legacy frame; nil if it had none.
  package var identifier: UInt32?

  package init(
    _ source: Source, app: App, target: Target, payload: String, pushType: PushType,
    priority: PushPriority, expiration: UInt32?
  ) {
    self.source = source
    self.app = app
    self.target = target
    self.payload = payload
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
  }

  /// Whether a second arrival would do harm: another card on the screen, or another call.
  var mustNotRepeat: Bool {
    switch pushType {
    case .voip: true
    case .liveactivity:
      JSONValue(json: payload.utf8)?.value(at: ["aps", "event"]) == .string("start")
    case .alert, .background, .location, .complication, .fileprovider, .mdm, .pushtotalk, .widgets,
      .controls:
      false
    }
  }

  /// Whether it may be stored for a phone that is off.
  var mayBeStored: Bool {
    isStored && expiration != 0 && (expiration != nil || pushType.isStoredByDefault)
  }

  /// How long APNs stores a push to a token at most.
  package static let longestStorage: Duration = .seconds(30 * 86_400)

  /// Returns the time after which the push is no longer sent, if it was received at `start`.
  func validUntil(from start: Timestamp) -> Timestamp {
    switch expiration {
    case nil where !pushType.isStoredByDefault: start + .seconds(30)
    case nil: start + .seconds(86_400)
    case 0: start + .seconds(30)
    case let seconds?:
      min(
        Timestamp(epochSeconds: Int64(seconds)),
        start + target.longestStorage)
    }
  }
}

extension RawPush.Source {
  /// The name of the event that carries such a push to the engine.
  package var event: String {
    switch self {
    case .legacy: "legacy_push"
    case .push: InternalEvent.rawPush.rawValue
    case .broadcast: InternalEvent.rawBroadcast.rawValue
    }
  }

  /// The rule name that the ledger records.
  package var rule: String { rawValue }

  /// The prefix that distinguishes the pseudo ride of an address from the service's own rides.
  var ridePrefix: String {
    switch self {
    case .legacy: "legacy:"
    case .push: "push:"
    case .broadcast: "broadcast:"
    }
  }

  /// Nil if the ride is one of the service.
  package init?(of ride: RideID) {
    for source in [Self.legacy, .push, .broadcast] where source.isPrefix(of: ride) {
      self = source
      return
    }
    return nil
  }

  /// Nil if the event carries no raw push: then rules may match it.
  init?(of event: RideEvent, in ride: RideID) {
    switch event.name {
    case Self.legacy.event: self = .legacy
    case Self.push.event: self = .push
    case Self.broadcast.event: self = .broadcast
    default: return nil
    }
    if !isPrefix(of: ride) { return nil }
  }

  private func isPrefix(of ride: RideID) -> Bool {
    ride.text.utf8.starts(with: ridePrefix.utf8)
  }

  /// Whether its pushes are addressed to a token, so that the phone with that token is read.
  package var hasPhone: Bool { self != .broadcast }
}

// The data of the event.
extension RawPush {
  /// `ridepulse.push` and `ridepulse.broadcast` write the same keys.
  private struct EventData: Codable {
    var app: String
    var token: String?
    /// Absent for an iPhone.
    var platform: String?
    var channel: String?
    var payload: String
    var pushType: String?
    var priority: Int?
    var expiration: UInt32?
    var isStored: Bool?
    var environment: String?
    var collapseID: String?
    var isRegistered: Bool?
    var identifier: UInt32?
    /// Added when the event is committed.
    var pushID: String?

    enum CodingKeys: String, CodingKey {
      case app, token, platform, channel, payload, priority, expiration, environment, identifier
      case pushType = "push_type"
      case isStored = "is_stored"
      case collapseID = "collapse_id"
      case isRegistered = "is_registered"
      case pushID = "apns_id"
    }
  }

  /// The data of the event, as a JSON object.
  package var eventData: String {
    var data = EventData(app: app.rawValue, payload: payload)
    switch target {
    case .device(let token): data.token = token.hex
    case .registration(let registration):
      data.token = registration.text
      data.platform = Platform.android.rawValue
    case .channel(let channel): data.channel = channel.rawValue
    }
    data.priority = priority.rawValue
    data.expiration = expiration
    data.identifier = identifier
    // A legacy frame has no other fields, and the previous version reads its data.
    if source != .legacy {
      data.pushType = pushType.rawValue
      data.isStored = isStored ? nil : false
      data.environment = environment?.rawValue
      data.collapseID = collapseID?.text
      data.isRegistered = isRegistered ? true : nil
    }
    // Only texts, whole numbers and flags, which always have a JSON form.
    return (try? JSONEncoder().encode(data)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Decodes the data of an event; nil if this version cannot read it.
  static func read(_ event: RideEvent, from source: Source) -> (push: RawPush, id: PushID)? {
    guard let data = try? JSONDecoder().decode(EventData.self, from: Data(event.data.utf8)),
      let target = target(data, source), let type = pushType(data, source),
      let priority = priority(data, type, source),
      let id = data.pushID.map(PushID.init(_:))
        ?? PushID(of: "event", String(event.id), source.rule, target.text),
      source != .legacy || LegacyPush.payload(data.payload.utf8) != nil
    else { return nil }
    var push = RawPush(
      source, app: App(rawValue: data.app), target: target, payload: data.payload,
      pushType: type, priority: priority, expiration: data.expiration)
    push.identifier = data.identifier
    push.isStored = data.isStored ?? true
    push.environment = data.environment.flatMap(APNsEnvironment.init)
    push.collapseID = data.collapseID.flatMap { CollapseID($0) }
    // The gateway registers each token that it does not know.
    push.isRegistered = source == .legacy || data.isRegistered == true
    return (push, id)
  }

  private static func target(_ data: EventData, _ source: Source) -> Target? {
    if source == .broadcast { return data.channel.flatMap { ChannelID($0) }.map { .channel($0) } }
    if data.platform == Platform.android.rawValue {
      return data.token.flatMap { FCMRegistration($0) }.map { .registration($0) }
    }
    return data.token.flatMap { DeviceToken($0) }.map { .device($0) }
  }

  private static func pushType(_ data: EventData, _ source: Source) -> PushType? {
    guard source == .legacy else { return data.pushType.flatMap(PushType.init) }
    return LegacyPush.pushType(of: data.payload, data.priority.flatMap(PushPriority.init))
  }

  private static func priority(
    _ data: EventData, _ type: PushType, _ source: Source
  ) -> PushPriority? {
    guard let number = data.priority else {
      return source == .legacy ? nil : type.rules.defaultPriority
    }
    return PushPriority(rawValue: number)
  }
}
