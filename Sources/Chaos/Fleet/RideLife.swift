import Base
import RideCore

/// The life of one ride from its request to its end, as a value that generates its steps.
struct RideLife: Sendable {
  private enum CardKind { case none, ofApp, byPush }

  let id: String
  private let customer: String
  private var driver: String
  private let kind: CardKind
  /// What the customer has: one phone, or one of each kind.
  private let platforms: [Platform]
  private let driverPlatform: Platform
  private let hasStarts: Bool
  private let regions: Regions
  private var numbers: SeededGenerator
  private var phase = 0
  private var count = 0
  private var hasCard = false

  private(set) var isOver = false

  /// Whether the first step was generated.
  var hasBegun: Bool { count > 0 }

  private static let states = [
    "requested", "driver_assigned", "driver_en_route", "driver_arrived", "ride_started",
    "ride_completed",
  ]

  init(id: String, hasStarts: Bool, hasAndroid: Bool, regions: Regions, seed: UInt64) {
    self.id = id
    self.hasStarts = hasStarts
    self.regions = regions
    numbers = SeededGenerator(seed: seed)
    customer = "customer-\(id)"
    driver = "driver-\(id)-0"
    let sets: [[Platform]] = [[.ios], [.ios], [.ios], [.android], [.android], [.ios, .android]]
    platforms = hasAndroid ? sets.randomElement(using: &numbers) ?? [.ios] : [.ios]
    let drivers: [Platform] = hasAndroid ? [.ios, .android] : [.ios]
    driverPlatform = drivers.randomElement(using: &numbers) ?? .ios
    let kinds: [CardKind] = [.none, .ofApp, .ofApp, .ofApp, .byPush, .byPush]
    kind =
      platforms.contains(.ios) ? kinds.randomElement(using: &numbers) ?? .none : .none
  }

  /// Returns the time until the next step.
  mutating func pause() -> Duration { .milliseconds(number(300...3_500)) }

  /// Returns the steps of the next transaction.
  mutating func next() -> [Step] {
    if count == 0 { return begin() }
    count += 1
    switch number(0...99) {
    case 0..<24: return advance()
    case 24..<54: return [.eta(1_795_248_300 + count * 7)]
    case 54..<60: return [.emit("driver_nearby", data: "{}")]
    case 60..<72: return [.emit("chat_message", data: #"{"text": "message \#(count)"}"#)]
    case 72..<77:
      return [.emit("ride_offer", data: #"{"driver_id": "\#(driver)"}"#)]
    case 77..<80: return [.emit("driver_assigned", data: "{}")]
    case 80..<88: return hasCard || kind == .byPush && phase > 0 ? [card()] : phones("customer")
    case 88..<91: return phones(number(0...1) == 0 ? "customer" : "driver")
    case 91..<94: return kind == .none ? [] : startToken()
    case 94..<96:
      driver = "driver-\(id)-\(count)"
      return phones("driver") + [.driver(driver)]
    default:
      // Faster than a card may be updated.
      return (0..<number(2...5)).map { .eta(1_795_248_300 + count * 7 + $0) }
    }
  }

  /// Returns the last step of the ride.
  mutating func end() -> [Step] {
    isOver = true
    return [.state(ChaosRules.final[number(0...3) == 0 ? 1 : 0])]
  }

  private mutating func begin() -> [Step] {
    count = 1
    var steps = phones("customer") + phones("driver")
    if kind == .byPush || number(0...3) == 0 { steps += startToken() }
    steps.append(
      .request(customer: customer, driver: driver, zone: regions.zone(using: &numbers)))
    if kind == .ofApp { steps.append(card()) }
    return steps
  }

  private mutating func advance() -> [Step] {
    if number(0...19) == 0 { return end() }
    // A driver who came to the wrong address drives off again.
    if phase == 3, number(0...9) == 0 { phase = 1 }
    phase += 1
    if phase == Self.states.count - 1 { return end() }
    return [.state(Self.states[phase])]
  }

  private mutating func card() -> Step {
    hasCard = true
    return .card(
      activity: "activity-\(id)", owner: customer, token: RandomToken.make(words: 5, &numbers),
      frequent: number(0...1) == 0)
  }

  private mutating func startToken() -> [Step] {
    let token = RandomToken.make(words: 5, &numbers)
    return hasStarts ? [.startToken(owner: customer, token: token)] : []
  }

  /// Registers a person's phones, each with another token.
  private mutating func phones(_ app: String) -> [Step] {
    let owner = app == "customer" ? customer : driver
    return (app == "customer" ? platforms : [driverPlatform]).map { platform in
      .phone(
        app: app, owner: owner, token: RandomToken.make(for: platform, &numbers),
        installation: "\(owner) \(platform.rawValue)", locale: regions.locale(using: &numbers),
        platform: platform)
    }
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &numbers)
  }
}

/// Generates random device tokens and registrations.
enum RandomToken {
  /// Returns an address of a phone: of an Android phone an installation ID, or a token that begins
  /// with one.
  static func make(for platform: Platform, _ numbers: inout SeededGenerator) -> String {
    if platform == .ios { return make(words: 4, &numbers) }
    let id = "cd" + text(20, &numbers)
    return numbers.next() % 2 == 0 ? id : "\(id):APA91b\(text(134, &numbers))"
  }

  private static let characters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

  private static func text(_ count: Int, _ numbers: inout SeededGenerator) -> String {
    String((0..<count).compactMap { _ in characters.randomElement(using: &numbers) })
  }

  /// - Parameter words: the length in words of 16 hexadecimal digits.
  static func make(words: Int, _ numbers: inout SeededGenerator) -> String {
    (0..<words).map { _ in String(numbers.next(), radix: 16, width: 16) }.joined()
  }
}
