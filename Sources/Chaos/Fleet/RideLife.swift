import RideCore

/// What a ride service writes in one transaction.
enum Step: Sendable {
  /// A ride comes into being. Its attributes name the driver.
  case request(customer: String, driver: String?)
  case state(String)
  /// The arrival time moves.
  case eta(Int)
  /// Another driver comes, or none, and the state changes in the same UPDATE if one is given.
  case driver(String?, state: String? = nil)
  case emit(String, data: String)
  /// So many events at once, half of them of a rule with a collapse ID.
  case burst(Int)
  /// A phone registers; a new token of the same phone takes the place of the old one.
  case phone(app: String, owner: String, token: String, installation: String? = nil)
  /// Phones of one owner, numbered.
  case phones(app: String, owner: String, numbers: ClosedRange<Int>)
  /// The app reports a card's update token.
  case card(activity: String, owner: String, token: String, frequent: Bool)
  /// The app reports a push-to-start token.
  case startToken(owner: String, token: String)

  /// How many events it makes, those of registered cards aside.
  var events: Int {
    switch self {
    case .request, .state, .eta, .driver, .emit: 1
    case .burst(let count): count
    case .phone, .phones, .card, .startToken: 0
    }
  }
}

/// One ride from its request to its end: a value that says what happens next.
struct RideLife: Sendable {
  private enum CardKind { case none, ofApp, byPush }

  let id: String
  private let customer: String
  private var driver: String
  private let kind: CardKind
  private let hasStarts: Bool
  private var numbers: SeededGenerator
  private var phase = 0
  private var count = 0
  private var hasCard = false

  /// Whether it has been over.
  private(set) var isOver = false

  /// Whether it has come into being.
  var hasBegun: Bool { count > 0 }

  private static let states = [
    "requested", "driver_assigned", "driver_en_route", "driver_arrived", "ride_started",
    "ride_completed",
  ]

  init(id: String, hasStarts: Bool, seed: UInt64) {
    self.id = id
    self.hasStarts = hasStarts
    numbers = SeededGenerator(seed: seed)
    customer = "customer-\(id)"
    driver = "driver-\(id)-0"
    kind =
      [.none, .ofApp, .ofApp, .ofApp, .byPush, .byPush].randomElement(using: &numbers) ?? .none
  }

  /// How long it is until the next step.
  mutating func pause() -> Duration { .milliseconds(number(300...3_500)) }

  /// What is written next, in one transaction.
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
    case 80..<88: return hasCard || kind == .byPush && phase > 0 ? [card()] : [phone("customer")]
    case 88..<91: return [phone(number(0...1) == 0 ? "customer" : "driver")]
    case 91..<94: return kind == .none ? [] : startToken()
    case 94..<96:
      driver = "driver-\(id)-\(count)"
      return [phone("driver"), .driver(driver)]
    default:
      // Quicker than any card may follow.
      return (0..<number(2...5)).map { .eta(1_795_248_300 + count * 7 + $0) }
    }
  }

  /// The last thing that happens to it.
  mutating func end() -> [Step] {
    isOver = true
    return [.state(ChaosRules.final[number(0...3) == 0 ? 1 : 0])]
  }

  private mutating func begin() -> [Step] {
    count = 1
    var steps = [phone("customer"), phone("driver")]
    if kind == .byPush || number(0...3) == 0 { steps += startToken() }
    steps.append(.request(customer: customer, driver: driver))
    if kind == .ofApp { steps.append(card()) }
    return steps
  }

  private mutating func advance() -> [Step] {
    if number(0...19) == 0 { return end() }
    // A driver who stood at the wrong door leaves again.
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

  private mutating func phone(_ app: String) -> Step {
    .phone(
      app: app, owner: app == "customer" ? customer : driver,
      token: RandomToken.make(words: 4, &numbers))
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &numbers)
  }
}
