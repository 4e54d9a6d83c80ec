import Base
import RideCore

/// Generates the contents of a ride's rows: likely, odd and extreme ones.
struct RideMaker {
  static let states = ["requested", "driver_arrived", "ride_started"]
  static let finalStates = ["done", "cancelled"]
  static let events = ["eta_changed", "offer", "ride_updated", "card_registered"]
  static let apps = [App.customer, .driver, App(rawValue: "courier")]

  var chance: Chance
  /// The time that most generated times are near.
  var now = Timestamp(epochSeconds: 1_800_000_000)

  /// Times at which calendars, texts or sums reach their limits.
  private static let edges: [Int64] = [
    .min, .min + 1, .max, .max - 1, 0, -1, 1, .min / 2, .max / 2, 999_999,
    -62_135_596_800_000_000, -62_135_596_800_000_001, 253_402_300_799_999_999,
    253_402_300_800_000_000, 4_102_444_800_000_000, -9_223_372_036_000_000,
  ]

  mutating func instant() -> Timestamp {
    switch chance.number(0...49) {
    case 0: return Timestamp(microseconds: chance.pick(of: Self.edges, else: 0))
    case 1: return Timestamp(microseconds: chance.number(.min ... .max))
    case 2, 3: return Timestamp(epochSeconds: chance.number(0...4_102_444_800))
    default:
      // From microseconds to weeks before or after.
      let reach = Int64(1) << chance.number(0...40)
      return now + .microseconds(chance.number(-reach...reach))
    }
  }

  /// Returns a time about as far away as rules fire before or after it.
  private mutating func near() -> Timestamp {
    let distance: Int64 = chance.pick(1, 15, 60, 300, 1200, 3600, 86_400)
    return now + .seconds(chance.pick(-distance, distance) + chance.number(-5...120))
  }

  mutating func ride() -> Ride {
    var ride = Ride(id: RideID(chance.percent(95) ? "r1" : text()), state: state())
    ride.customerID = owner("c").map(OwnerID.init)
    ride.driverID = owner("d").map(OwnerID.init)
    ride.pickupAt = chance.percent(20) ? instant() : chance.percent(80) ? near() : nil
    ride.updatedAt = chance.percent(90) ? instant() : nil
    ride.timeZone = chance.pick(
      "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
      "Africa/Casablanca", "Pacific/Apia", "GMT+14", "", "Mars/Phobos", "../../etc/passwd", text())
    ride.attributes = attributes()
    let people = (0..<chance.number(0...2)).map { _ in
      let app = app()
      return Participant(app: app, ownerID: chance.pick(owner(of: app), "p"))
    }
    ride.participants = people.first == people.last ? Array(people.prefix(1)) : people
    return ride
  }

  mutating func state() -> String? {
    switch chance.number(0...9) {
    case 0: chance.pick(nil, text())
    case 1, 2: chance.pick(of: Self.finalStates, else: "")
    default: chance.pick(of: Self.states, else: "")
    }
  }

  mutating func event(_ id: Int64) -> RideEvent {
    var name = chance.pick(of: Self.states + Self.finalStates + Self.events, else: "")
    if chance.percent(25) { name = "driver_arrived" }
    if chance.percent(3) { name = text() }
    let id = chance.percent(97) ? id : chance.number(.min ... .max)
    return RideEvent(id: id, name: name, at: instant(), data: attributes())
  }

  mutating func phone(_ id: Int64) -> Phone {
    let app = app()
    var phone = Phone(
      id: id, app: app, ownerID: chance.percent(85) ? owner(of: app) : "p", token: token(),
      environment: environment(),
      locale: chance.pick(nil, "de", "en-GB", "zh-Hant-TW", "", "-", text()))
    phone.installationID = installation()
    return phone
  }

  mutating func card(_ id: Int64) -> Card {
    let app = app()
    var card = Card(
      .activity(id), app: app, ownerID: owner(of: app), token: token(), environment: environment(),
      isFrequent: chance.percent(50), registeredAt: instant(), isGone: chance.percent(10))
    card.installationID = installation()
    return card
  }

  mutating func startToken(_ id: Int64) -> StartToken {
    let app = app()
    var start = StartToken(
      id: id, app: app, ownerID: owner(of: app),
      attributesType: chance.percent(90) ? "A" : text(), token: token(),
      environment: environment(), registeredAt: instant())
    start.installationID = installation()
    return start
  }

  mutating func channel(_ id: Int64) -> RideChannel {
    let standing: RideChannel.Standing =
      switch chance.number(0...9) {
      case 0: .creating
      case 1: .unanswered
      case 2: .refused(text().description)
      case 3: .closed
      default: ChannelID("YQ==").map { .open($0) } ?? .closed
      }
    return RideChannel(
      id: id, app: app(), environment: .production, storage: chance.pick(.latest, .nothing),
      createdAt: instant(), standing: standing)
  }

  private mutating func installation() -> InstallationID? {
    chance.pick(nil, nil, "a", "a", "b", "")
  }

  private mutating func app() -> App { chance.pick(.customer, .customer, .driver, Self.apps[2]) }

  private mutating func owner(of app: App) -> OwnerID {
    OwnerID(chance.percent(95) ? String(app.rawValue.prefix(1)) : text())
  }

  private mutating func owner(_ usual: String) -> String? {
    chance.percent(95) ? usual : chance.pick(nil, "", text())
  }

  private mutating func environment() -> APNsEnvironment? {
    chance.pick(nil, .production, .sandbox)
  }

  private mutating func token() -> String {
    if chance.percent(93) {
      return String(repeating: chance.pick("c1", "AB", "0f", "9e"), count: chance.number(1...40))
    }
    return chance.pick("", "c", "no token", String(repeating: "a1", count: 300), text())
  }
}

// Texts and JSON.
extension RideMaker {
  mutating func text() -> String {
    switch chance.number(0...7) {
    case 0: return ""
    case 1:
      return String(
        repeating: chance.pick("x", "ü", "🚕", " ", "\""), count: chance.number(1...5000))
    case 2: return String(decoding: chance.bytes(upTo: 40), as: UTF8.self)
    case 3:
      return chance.pick("\u{0}", "\n", "\u{202e}", "{{ride.id}}", "%@", "e\u{301}", "\u{feff}")
    case 4: return String(chance.number(Int64.min ... .max))
    default: return chance.pick("B-RP 1", "Ada", "Gate B", "c", "d", "k", "done")
    }
  }

  /// Returns the JSON text of a ride's attributes or an event's data; sometimes it is not JSON.
  mutating func attributes() -> String {
    switch chance.number(0...9) {
    case 0: return "{}"
    case 1: return json(depth: 0)
    case 2:
      let bytes = Self.mutation.mutate(Array(object(depth: 0).utf8), &chance)
      return String(decoding: bytes, as: UTF8.self)
    case 3 where chance.percent(5):
      let depth = chance.number(1...3000)
      return String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    case 4, 5, 6: return #"{"courier_id":"c","plate":"B-RP 1","at":\#(near().epochSeconds)}"#
    default: return object(depth: 0)
    }
  }

  private static let mutation = Mutation([
    "{", "}", "[", "]", "\"", ":", ",", "\\u0000", "\\ud800", "null", "true", "1e999", "-", "0",
    "1e400", "\u{0}", "{}", "[[", "\"at\":",
  ])

  private mutating func object(depth: Int) -> String {
    let keys = [
      "plate", "at", "eta", "customer_id", "driver_id", "courier_id", "a", "b", "aps", "",
    ]
    let members = chance.list(upTo: 6) { chance in chance.pick(of: keys, else: "") }.map { key in
      "\"\(key)\":\(key.hasSuffix("_id") && chance.percent(60) ? "\"\(key.prefix(1))\"" : json(depth: depth + 1))"
    }
    return "{" + members.joined(separator: ",") + "}"
  }

  private mutating func json(depth: Int) -> String {
    switch chance.number(0...9) {
    case 0 where depth < 5: return object(depth: depth)
    case 1 where depth < 5:
      return "["
        + (0..<chance.number(0...4)).map { _ in json(depth: depth + 1) }.joined(separator: ",")
        + "]"
    case 2: return chance.pick("null", "true", "false", "0", "-0", "1", "1.0", "-0.0", "0.1")
    case 3: return String(chance.number(Int64.min ... .max))
    case 4:
      return chance.pick(
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e18", "1e308",
        "-1e308", "1e400", "4e-324", "18446744073709551615", "1e12", "999999999999.9",
        "0.1e1", "123456789012345678901234567890")
    case 5: return String((chance.percent(50) ? near() : instant()).epochSeconds)
    case 6: return quoted(CivilTime.iso(Timestamp(epochSeconds: chance.number(0...4_102_444_800))))
    case 7:
      return quoted(
        chance.pick(
          "2026-11-21T08:05:00+01:00", "9999-12-31T23:59:59Z", "0000-00-00T00:00:00Z",
          "999999999-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "2026-02-30T25:61:61Z",
          "2026-11-21T08:05:00.999999999999999999999Z", "99999999999999999999-01-01T00:00:00Z",
          "2026-11-21T08:05:00+99:99", "T", "TZ", "2026-11-21T08:05:00-00:00"))
    default: return quoted(text())
    }
  }

  private func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(text).json, as: UTF8.self)
  }
}
