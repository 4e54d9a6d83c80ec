@testable import Base
@testable import RideCore
@testable import Timeline

/// Some hours of a phone: what is sent to it, and when it is off.
struct ScreenLife {
  struct Step {
    enum Kind { case push(ScreenPush), leaves, returns }

    var at: Timestamp
    var kind: Kind

    func apply(to screen: inout Screen) {
      switch kind {
      case .push(let push): screen.receive(push, at: at)
      case .leaves: screen.goOffline(at: at)
      case .returns: screen.goOnline(at: at)
      }
    }
  }

  static let start = Timestamp(epochSeconds: 1_795_248_000)
  /// Those of alerts, of a card, and of its start.
  static let tokens = ["a1", "c1", "51"]

  private(set) var steps: [Step] = []
  private let platform: Platform
  private var now = Self.start

  /// The phone is back at the end, so that everything is decided.
  init(_ platform: Platform, _ chance: inout Chance) {
    self.platform = platform
    for _ in 0..<chance.number(1...12) {
      wait(&chance)
      if chance.percent(70) { addPushes(chance.number(1...3), &chance) } else { addHole(&chance) }
    }
    wait(&chance)
    steps.append(Step(at: now, kind: .returns))
  }

  var end: Timestamp { now }

  func push(_ id: String) -> ScreenPush? {
    for step in steps {
      if case .push(let push) = step.kind, push.id == id { return push }
    }
    return nil
  }

  private mutating func wait(_ chance: inout Chance) {
    let longest: Int64 = chance.pick(2, 90, 1_200, 20_000)
    now = now + .microseconds(chance.number(0...longest * 1_000_000))
  }

  private mutating func addHole(_ chance: inout Chance) {
    steps.append(Step(at: now, kind: .leaves))
    // FCM keeps a hundred.
    let isBurst = platform == .android && chance.percent(4)
    addPushes(isBurst ? chance.number(95...120) : chance.number(0...9), &chance)
    if chance.percent(80) {
      wait(&chance)
      steps.append(Step(at: now, kind: .returns))
    }
  }

  private mutating func addPushes(_ count: Int, _ chance: inout Chance) {
    let isBurst = count > 20
    for _ in 0..<count {
      if !isBurst { wait(&chance) }
      let push = platform == .ios ? iPhonePush(&chance) : message(&chance, isBurst)
      steps.append(Step(at: now, kind: .push(push)))
    }
  }

  // MARK: pushes

  private func iPhonePush(_ chance: inout Chance) -> ScreenPush {
    let id = "p\(steps.count)"
    let expiration: PushExpiration =
      chance.percent(20) ? .neverStore : .at(now + .seconds(chance.number(-2...2_000)))
    if chance.percent(40) {
      let event = chance.pick("start", "update", "update", "update", "end")
      var aps: [String: JSONValue] = [
        "event": .string(event), "timestamp": .integer(timestamp(&chance)),
        "content-state": .object(["n": .string(id)]),
      ]
      if event != "end", chance.percent(70) { aps["stale-date"] = later(2_000, &chance) }
      if event == "end", chance.percent(70) { aps["dismissal-date"] = later(20_000, &chance) }
      if chance.percent(30) {
        aps["alert"] = .object(["title": .string(id), "sound": .string("default")])
      }
      return ScreenPush(
        id: id, type: .liveactivity, address: Self.tokens[event == "start" ? 2 : 1],
        storage: .apns(expiration), card: "r1", payload: .object(["aps": .object(aps)]))
    }
    var aps: [String: JSONValue] = [:]
    if chance.percent(80) { aps["alert"] = .object(["title": .string(id)]) }
    if chance.percent(50) { aps["sound"] = .string("default") }
    if chance.percent(30) { aps["badge"] = .integer(chance.number(0...3)) }
    if chance.percent(30) { aps["interruption-level"] = .string(chance.pick("passive", "active")) }
    return ScreenPush(
      id: id, address: Self.tokens[0], storage: .apns(expiration),
      collapseID: chance.percent(70) ? chance.pick("x", "y") : nil,
      payload: .object(["aps": .object(aps)]))
  }

  private func message(_ chance: inout Chance, _ isBurst: Bool) -> ScreenPush {
    let id = "p\(steps.count)"
    let ttl: Int64 = isBurst ? 90_000 : chance.percent(20) ? 0 : chance.number(1...2_000)
    var data: [String: JSONValue] = ["rp_id": .string(id)]
    var android: [String: JSONValue] = [:]
    switch chance.number(0...3) {
    case 0:
      data["rp_kind"] = .string("card")
      data["rp_card"] = .string(chance.pick("c1", "c1", "c2"))
      data["rp_event"] = .string(chance.pick("start", "update", "update", "end"))
      data["rp_ts"] = .string("\(timestamp(&chance))")
      data["rp_state"] = .string("{\"n\":\"\(id)\"}")
      if chance.percent(60) { data["rp_stale_at"] = later(2_000, &chance).asText }
      if chance.percent(60) { data["rp_gone_at"] = later(20_000, &chance).asText }
      if chance.percent(30) { data["rp_alert"] = .string("1") }
    case 1:
      data["rp_kind"] = .string("alert")
      data["rp_title"] = .string(id)
      data["rp_tag"] = .string(chance.pick("x", "y", "z"))
      data["rp_channel"] = .string(chance.pick("ride_now", "ride_quiet"))
      if chance.percent(60) { data["rp_sound"] = .string("1") }
      if chance.percent(60) { data["rp_until"] = later(2_000, &chance).asText }
    default:
      data["rp_kind"] = .string("alert")
      var shown: [String: JSONValue] = [
        "title": .string(id), "tag": .string(chance.pick("x", "y", "z")),
        "channel_id": .string(chance.pick("ride_now", "ride_quiet")),
      ]
      if chance.percent(60) { shown["default_sound"] = .bool(true) }
      if chance.percent(20) { shown["notification_count"] = .integer(chance.number(1...3)) }
      android["notification"] = .object(shown)
    }
    let key = isBurst || chance.percent(60) ? nil : "k\(chance.number(1...6))"
    return ScreenPush(
      id: id, platform: .android, address: "fcm", storage: .fcm(ttl: ttl, collapseKey: key),
      payload: .object([
        "message": .object(["data": .object(data), "android": .object(android)])
      ]))
  }

  /// Mostly rising, as a card's timestamps do.
  private func timestamp(_ chance: inout Chance) -> Int64 {
    now.epochSeconds + (chance.percent(80) ? 0 : chance.number(-600...0))
  }

  private func later(_ longest: Int64, _ chance: inout Chance) -> JSONValue {
    .integer(now.epochSeconds + chance.number(-5...longest))
  }
}

extension JSONValue {
  fileprivate var asText: JSONValue { .string(text) }
}
