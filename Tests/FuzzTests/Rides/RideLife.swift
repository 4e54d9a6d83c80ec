import Base
import Foundation

@testable import RideCore
@testable import Timeline

/// The ride of one case: decided several times while its rows, its memo and the clock change at
/// random, and then left alone.
struct RideLife {
  var maker: RideMaker
  private let book: EngineConfiguration
  private var view: RideView
  private var now: Timestamp
  private var due: Timestamp?
  private var lastEvent: Int64 = 0
  /// The outcomes that occurred, to verify the test itself.
  private(set) var seen: Set<String> = []

  var chance: Chance {
    get { maker.chance }
    set { maker.chance = newValue }
  }

  init(_ chance: inout Chance) {
    var books = BookMaker(chance: chance)
    book = books.book()
    maker = RideMaker(chance: books.chance)
    view = RideView(rideID: "r1", ride: maker.ride())
    if maker.chance.percent(3) {
      view = RideView(rideID: RideID(ofPerson: "c", app: .customer), ride: nil)
    }
    now = maker.now
    if maker.chance.percent(10) { now = maker.instant() }
    maker.now = now
    view.phones = (0..<maker.chance.number(0...5)).map { maker.phone(Int64($0)) }
    view.cards = (0..<maker.chance.number(0...2)).map { maker.card(Int64($0)) }
    view.channels = (0..<maker.chance.number(0...1)).map { maker.channel(Int64($0) + 1) }
    view.startTokens = (0..<maker.chance.number(0...2)).map { maker.startToken(Int64($0)) }
  }

  /// Changes something and decides the ride.
  mutating func step() throws {
    if maker.chance.percent(25) { changeRide() }
    view.events = (0..<maker.chance.number(0...4)).map { _ in
      lastEvent += 1
      return maker.event(lastEvent)
    }
    if maker.chance.percent(30), let state = view.ride?.state {
      lastEvent += 1
      view.events.append(RideEvent(id: lastEvent, name: state, at: now))
    }
    if maker.chance.percent(25), let memo = try MemoMutation().mutate(view.memo, &maker.chance) {
      view.memo = memo
      seen.insert("mutated memo")
    }
    try claim { Self.outcome(&$0) }
    switch maker.chance.number(0...9) {
    case 0: now = maker.instant()
    case 1: now = now - .seconds(maker.chance.number(0...600))
    case 2, 3: now = now + .seconds(maker.chance.number(0...100_000))
    default: now = max(now + .microseconds(1), due ?? now)
    }
    maker.now = now
  }

  private mutating func changeRide() {
    let before = view.ride
    view.ride = maker.chance.percent(95) ? maker.ride() : nil
    guard let before, maker.chance.percent(70) else { return }
    view.ride?.state = before.state
    view.ride?.customerID = before.customerID
    view.ride?.driverID = before.driverID
  }

  /// Changes nothing more, while APNs accepts every push: the ride may not become due repeatedly at
  /// the same time.
  mutating func rest() throws {
    // At the end of the range of `Timestamp` there is no later time to wait for.
    let year = Duration.seconds(366 * 86_400)
    now = min(
      max(now, Timestamp(microseconds: .min) + year * 20), Timestamp(microseconds: .max) - year * 20
    )
    view.events = []
    for claims in 0... {
      try claim { _ in .accepted }
      view.events = []
      guard let due, due <= now else { break }
      try require(claims < 10, "due since \(due) at \(now), whatever is done: \(view.memo)")
    }
    view.ride?.state = "done"
    let limit = 30 + view.memo.waiting.count
    // Time went back meanwhile, and a card waits for as long after its last event.
    now = view.memo.cards.values.map(\.lastEventAt).reduce(now, max)
    let start = now
    for claims in 0... {
      try claim { _ in .accepted }
      guard let due else { return }
      now = max(now + .microseconds(1), due)
      // A card that no event ended is updated before it is stale, with some rules every second.
      let updates = min(4 * (now - start).components.seconds, 60_000)
      try require(claims < limit + Int(updates), "over, and due again at \(due): \(view.memo)")
    }
  }

  // MARK: One claim

  private mutating func claim(_ outcome: (inout Chance) -> PushOutcome) throws {
    let decision = decide(view, by: book, now: now)
    try check(decision)
    if let journal = decision.journal(now: now) {
      seen.insert("journal")
      // If a node dies between journal and settlement, the next one finds the journal.
      if maker.chance.percent(10) {
        view.memo = journal
        return
      }
    }
    let outcomes = decision.pushes.map { _ in outcome(&maker.chance) }
    let settlement = decision.settled(outcomes, now: now) { maker.chance.share() }
    try check(settlement, of: decision)
    view.apply(settlement)
    due = settlement.isOver ? nil : settlement.nextDue
    if !settlement.needs.isEmpty {
      seen.insert("need")
      if maker.chance.percent(70) { view.channels = [maker.channel(lastEvent + 2)] }
    }
  }

  private static func outcome(_ chance: inout Chance) -> PushOutcome {
    switch chance.number(0...9) {
    case 0:
      .refused(
        Refusal(
          status: chance.pick(400, 403, 408, 410, 429, 500, 503, 0, -1, .max),
          reason: chance.pick(
            nil, "BadDeviceToken", "Unregistered", "ChannelNotRegistered", "TooManyRequests",
            "IdleTimeout", "\u{0}"),
          timestamp: chance.pick(nil, Timestamp(microseconds: chance.number(.min ... .max))),
          retryAfter: chance.pick(nil, .zero, .seconds(chance.number(0...86_400)))))
    case 1: .unanswered(chance.pick(.timeout, .connectionLost("\u{0}"), .reset("CANCEL")))
    case 2:
      .unsent(
        chance.pick(
          .noConnection("x"), .goAway(reason: nil), .refusedStream, .queuedTooLong, .closed,
          .invalid("x")))
    default: .accepted
    }
  }
}

// The invariants of every decision.
extension RideLife {
  private mutating func check(_ decision: Decision) throws(Fuzz.Fault) {
    let rules = book.rules
    // For a cron rule: the slots that it makes up for, and those that are still on time.
    let slots = rules.timed.all.map { rule in
      if case .cron(_, _, .all(let bound)) = rule.timing.slots { bound + 4 } else { 5 }
    }.reduce(0, +)
    let tellings = view.events.count * rules.rules.count + slots
    let others =
      view.memo.waiting.count + (view.cards.count + view.channels.count) * rules.cards.count
      + view.startTokens.count
    try require(
      decision.pushes.count <= tellings * view.phones.count + others,
      "\(decision.pushes.count) pushes from \(tellings) tellings and \(others) others")
    for push in decision.pushes {
      try require(push.payload.count <= push.address.payloadLimit, "too large: \(push.entry)")
      guard case .object = JSONValue(json: push.payload) else {
        throw Fuzz.Fault(text: "no JSON object: \(String(decoding: push.payload, as: UTF8.self))")
      }
      let expiration = push.headers.expiration.epochSeconds
      try require(expiration >= 0, "apns-expiration \(expiration)")
      seen.insert(push.headers.pushType.rawValue)
      if case .channel = push.address { seen.insert("broadcast") }
      if let event = push.entry.cardEvent { seen.insert(event.rawValue) }
      if push.entry.isOfSlot { seen.insert(push.entry.event.name) }
      if let step = push.step, let before = view.memo.cards[step.card]?.timestamp {
        try require(
          step.timestamp > before || before == .max, "timestamp \(step.timestamp) after \(before)")
      }
    }
    for entry in decision.ended where entry.reason?.code == .service("PayloadTooLarge") {
      try require(entry.status == .rejected, "too large and not rejected: \(entry)")
    }
    for (rule, tally) in decision.settlement.tallies {
      let counts = [
        tally.due, tally.fired, tally.skipped, tally.missed, tally.capped, tally.expired,
      ]
      try require(tally.remainder == 0 && counts.allSatisfy { $0 >= 0 }, "\(rule): \(tally)")
    }
    if !decision.covered.isEmpty { seen.insert("held") }
  }

  private mutating func check(_ settlement: Settlement, of decision: Decision) throws {
    let recorded = Set(settlement.entries.map(\.id))
    for push in decision.pushes {
      try require(recorded.contains(push.entry.id), "the ledger lacks \(push.entry)")
    }
    for entry in settlement.entries { seen.insert(entry.status.rawValue) }
    try require(
      !settlement.isOver || settlement.nextDue == nil, "over and due at once: \(settlement)")
    if maker.chance.percent(10) {
      let json = settlement.memo.storedText
      let memo = try Memo(storedText: json)
      try require(memo == settlement.memo, "a memo does not read back: \(settlement.memo)")
    }
  }
}
