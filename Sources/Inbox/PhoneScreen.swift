import Base
import RideCore
import SimulatorKit
import Timeline

/// Draws what a simulator delivered to a phone.
///
/// The simulator has decided what was delivered, kept and dropped; the model of the screen only shows
/// it. So it is on while it receives, and what waits is added to it as to a phone that is off.
struct PhoneScreen {
  /// Of more messages, the newest are drawn.
  static let limit = 300

  private var screen: Screen
  private var cards = CardNames()
  private let platform: Platform

  /// - Parameter messages: the phone's; those with other fates than delivered and waiting are not drawn.
  init(
    _ messages: some Sequence<InboxMessage>, on platform: Platform, isReachable: Bool,
    at now: Timestamp
  ) {
    self.platform = platform
    let delivered = messages.filter { $0.fate == .delivered }
      .sorted { $0.revision < $1.revision }.suffix(Self.limit)
    screen = Screen(platform, at: delivered.first.map { Timestamp($0.decidedAt) } ?? now)
    for message in delivered { receive(message, at: Timestamp(message.decidedAt)) }
    if !isReachable { screen.goOffline(at: now) }
    for message in messages where message.fate == .waiting && !isReachable {
      receive(message, at: now)
    }
    screen.advance(to: now)
  }

  /// When it must be drawn again although nothing arrives; nil if never.
  var changesAt: Timestamp? {
    if screen.cards.isEmpty, screen.waitingPushes.isEmpty { return nil }
    // A card's last hour and the end of what waits are the model's: it is asked each minute.
    let limit = screen.now + .seconds(60)
    return screen.cards.flatMap { [$0.staleAt, $0.goneAt] }.compactMap(\.self)
      .filter { $0 > screen.now }.reduce(limit, min)
  }

  /// - Parameter name: What the phone is called; nil if nothing but a token is known of it.
  func json(app: String, name: String?, isOn: Bool, deletions: Int) -> JSONValue {
    let json = ScreenJSON(screen, app: app, name: name).value
    guard case .object(var members) = json else { return json }
    // The simulator knows both, because the model was on while it received.
    members["online"] = .bool(isOn)
    members["deletions"] = .integer(Int64(deletions))
    return .object(members)
  }

  private mutating func receive(_ message: InboxMessage, at instant: Timestamp) {
    guard let record = JSONValue(json: message.line) else { return }
    switch platform {
    case .android:
      if let push = ScreenPush(message, messageOf: record) { screen.receive(push, at: instant) }
    case .ios:
      guard var push = ScreenPush(message, pushOf: record) else { return }
      if push.type == .liveactivity {
        let (name, isNew) = cards.name(
          of: push.address, event: push.payload.value(at: ["aps", "event"]))
        // The app has started it: its first push has the content.
        if isNew { screen.startCard(name, at: instant) }
        push.card = name
      }
      screen.receive(push, at: instant)
    }
  }
}

/// The cards of an iPhone: a start has no token of the card yet, and all that follows has.
private struct CardNames {
  private var byToken: [String: String] = [:]
  /// Started, and without a token so far.
  private var started: [String] = []
  private var count = 0

  /// Returns the card that a push is about, and whether the app must have started it.
  mutating func name(of token: String, event: JSONValue?) -> (String, isNew: Bool) {
    if event == .string("start") {
      let name = next()
      started.append(name)
      return (name, false)
    }
    if let name = byToken[token] { return (name, false) }
    let known = started.popLast()
    let name = known ?? next()
    byToken[token] = name
    return (name, known == nil)
  }

  private mutating func next() -> String {
    count += 1
    return count == 1 ? "card" : "card \(count)"
  }
}

extension Timestamp {
  init(_ time: WallTime) { self.init(microseconds: Int64(time.total)) }
}

extension ScreenPush {
  /// Reads a push to an iPhone; nil if the phone's screen has no part in it.
  fileprivate init?(_ message: InboxMessage, pushOf record: JSONValue) {
    guard let type = PushType(rawValue: message.type),
      [.alert, .background, .liveactivity].contains(type), let payload = record["payload"]
    else { return nil }
    func header(_ name: String) -> String? {
      if case .string(let text)? = record.value(at: ["headers", name]) { text } else { nil }
    }
    let seconds = header("apns-expiration").flatMap { Int64($0) }
    let expiration: PushExpiration =
      switch seconds {
      case 0: .neverStore
      case let seconds?: .at(Timestamp(epochSeconds: seconds))
      case nil: .at(Timestamp(message.receivedAt) + .seconds(30 * 86_400))
      }
    self.init(
      id: "\(message.sequence)", rule: message.reference, type: type,
      address: message.address.text, storage: .apns(expiration),
      collapseID: header("apns-collapse-id"), payload: payload)
  }

  /// Reads a message to an Android phone.
  fileprivate init?(_ message: InboxMessage, messageOf record: JSONValue) {
    guard let content = record["message"] else { return nil }
    var key: String?
    if case .string(let text)? = content.value(at: ["android", "collapse_key"]) { key = text }
    self.init(
      id: "\(message.sequence)", rule: message.reference, platform: .android,
      address: message.address.text, storage: .fcm(ttl: 2_419_200, collapseKey: key),
      payload: .object(["message": content]))
  }
}

extension InboxMessage {
  /// What a screen calls it, which has no rule to name.
  fileprivate var reference: String { "#\(sequence)" }
}
