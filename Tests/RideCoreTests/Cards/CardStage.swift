@testable import Base
@testable import RideCore
@testable import Timeline

/// One ride with its cards, its agenda, and the phone's side of APNs: the pushes that arrived, in
/// order.
struct CardStage {
  /// A push of type `liveactivity` as a phone decodes it, or an ordinary alert.
  struct Arrival {
    var at: Timestamp
    var push: PlannedPush
    var aps: JSONValue

    var event: String { text("event") }
    var timestamp: Int64 { number("timestamp") ?? 0 }
    var staleDate: Int64? { number("stale-date") }
    var dismissalDate: Int64? { number("dismissal-date") }
    var title: String? { aps.value(at: ["alert", "title"])?.text }
    var status: String { aps.value(at: ["content-state", "status"])?.text ?? "" }
    var eta: Int64? {
      if case .integer(let eta) = aps.value(at: ["content-state", "eta"]) { eta } else { nil }
    }
    var priority: Int { push.headers.priority.rawValue }
    var token: String { push.address.text }
    var isCard: Bool { push.headers.pushType == .liveactivity }
    /// Seconds since the stage's start.
    var seconds: Double { Double((at - CardStage.start).microseconds) / 1e6 }

    private func text(_ key: String) -> String { aps.value(at: [key])?.text ?? "" }
    private func number(_ key: String) -> Int64? {
      if case .integer(let number) = aps.value(at: [key]) { number } else { nil }
    }
  }

  /// The point at which a node dies while it handles the ride.
  enum Crash: CaseIterable {
    case afterClaim, afterJournal, afterSending
  }

  static let start = Sample.now
  static let lease: Duration = .seconds(20)

  var life: LiveActivity
  var others: [Rule] = []
  /// `topic` of the card's rule, and what owners have turned off.
  var topic: Topic?
  var optOuts: Set<OptOut> = []
  /// `if` of the card's rule.
  var condition: Condition?
  var contacts: [OwnerContact] = []
  /// Custom keys next to `aps`.
  var data: [String: PayloadTemplate] = [:]
  var expires: RuleExpiry = .after(.seconds(120))
  var ride = Sample.ride()
  var phones = [Sample.phone()]
  var cards: [Card] = []
  var channels: [RideChannel] = []
  var needs: [ChannelNeed] = []
  var startTokens: [StartToken] = []
  /// The apps with a service account of FCM.
  var androidApps: Set<App> = []
  /// Whether the next claim follows one whose node ended.
  var isTakenOver = false
  /// The lanes whose refusals of tokens may be due to the configuration.
  var doubtful: Set<PushLane> = []
  var memo = Memo()
  var events: [RideEvent] = []
  var now = start
  var due: Timestamp?
  var wire: [Arrival] = []
  var ledger: [PushID: LedgerEntry] = [:]
  /// Entries that would leave a row of the ledger pending forever: its key contains the time of the
  /// event.
  var doubled: [LedgerEntry] = []
  var gone: [TokenInvalidation] = []
  private var lastEvent: Int64 = 0
  private var lastCard: Int64 = 0

  init(start: [String] = ["driver_assigned"]) {
    life = LiveActivity(attributesType: "RideAttributes")
    life.attributes = ["rideId": .value(Sample.text("{{ride.id}}"))]
    life.contentState = [
      "status": .value(Sample.text("{{ride.state}}")),
      "eta": .value(Sample.text("{{ride.attributes.eta | default: 0}}")),
    ]
    life.start = start
    life.staleAfter = .seconds(120)
    life.dismissAfter = .seconds(600)
    life.urgent = ["driver_arrived", "ride_started"]
    var alert = CardAlert()
    alert.title = LocalizedText(Sample.text("Your driver is here"))
    life.alerts = ["driver_arrived": alert]
    ride.state = "requested"
  }

  var configuration: EngineConfiguration {
    var card = Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(life), data: data,
      expires: expires, source: "sample.yaml:1")
    card.limits.topic = topic
    card.condition = condition
    var configuration = EngineConfiguration(
      rules: RuleSet(
        activeStates: [
          "requested", "driver_assigned", "driver_en_route", "driver_arrived", "ride_started",
        ], finalStates: ["ride_completed", "cancelled"], events: ["eta_changed"],
        rules: [card] + others),
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
    configuration.androidApps = androidApps
    return configuration
  }

  var view: RideView {
    var view = RideView(
      rideID: ride.id, ride: ride, events: events, phones: phones, cards: cards,
      startTokens: startTokens, memo: memo)
    view.channels = channels
    view.optOuts = optOuts
    view.contacts = contacts
    view.isTakenOver = isTakenOver
    return view
  }
}

// Changes of the ride.
extension CardStage {
  mutating func emit(_ event: String) {
    lastEvent += 1
    events.append(RideEvent(id: lastEvent, name: event, at: now))
  }

  mutating func state(_ state: String) {
    ride.state = state
    emit(state)
  }

  mutating func eta(_ eta: Int) {
    ride.attributes = #"{"eta": \#(eta)}"#
    emit("ride_updated")
  }

  /// Registers a card, or a new token for one, as the app does.
  mutating func register(
    _ token: String = "ca", card target: CardTarget? = nil, frequent: Bool = false
  ) {
    if let target, let index = cards.firstIndex(where: { $0.target == target }) {
      cards[index].token = token
      cards[index].registeredAt = now
      cards[index].isGone = false
    } else {
      lastCard += 1
      cards.append(
        Card(
          target ?? .activity(lastCard), app: .customer, ownerID: "c", token: token,
          isFrequent: frequent,
          registeredAt: now))
    }
    emit("card_registered")
  }

  mutating func offerStart(_ token: String = "5a", id: Int64 = 1) {
    startTokens.append(
      StartToken(
        id: id, app: .customer, ownerID: "c", attributesType: "RideAttributes", token: token,
        registeredAt: now))
  }
}

// The service's side.
extension CardStage {
  /// Performs one claim up to its settlement, or up to a crash.
  mutating func claim(
    crash: Crash? = nil, answer: (PlannedPush) -> PushOutcome = { _ in .accepted },
    jitter: Double = 0.5
  ) {
    var view = self.view
    view.reporters = view.memo.escalationOwners
    let decision = decide(view, by: configuration, now: now)
    if crash == .afterClaim { return }
    if let journal = decision.journal(now: now) { memo = journal }
    if crash == .afterJournal { return }
    let outcomes = decision.pushes.map { push in
      let outcome = answer(push)
      if outcome.mayHaveArrived {
        let body = JSONValue(json: push.payload)?.value(at: ["aps"]) ?? .null
        wire.append(Arrival(at: now, push: push, aps: body))
      }
      return outcome
    }
    if crash == .afterSending { return }
    let settlement = decision.settled(outcomes, now: now, doubtful: doubtful) { jitter }
    isTakenOver = false
    var after = view
    after.apply(settlement)
    (memo, events, cards, channels) = (after.memo, after.events, after.cards, after.channels)
    phones = after.phones
    due = settlement.isOver ? nil : settlement.nextDue
    // The ledger has one row for each ID.
    let ids = settlement.entries.map(\.id)
    if Set(ids).count < ids.count { doubled += settlement.entries }
    for entry in settlement.entries {
      if let row = ledger[entry.id], row.status == .pending, row.event.at != entry.event.at {
        doubled.append(entry)
      }
      ledger[entry.id] = entry
    }
    gone += settlement.invalidations
    needs = settlement.needs
  }

  /// Runs the service: it handles the ride at once, and whenever it is due.
  mutating func run(
    for duration: Duration = .zero, answer: (PlannedPush) -> PushOutcome = { _ in .accepted }
  ) {
    let end = now + duration
    claim(answer: answer)
    while let due, due <= end {
      now = max(now + .microseconds(1), due)
      claim(answer: answer)
    }
    now = end
  }

  mutating func wait(_ seconds: Double) { now = now + .microseconds(Int64(seconds * 1e6)) }

  var reasons: [String] {
    ledger.values.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }.sorted()
  }
}

extension PushOutcome {
  /// Whether a phone may have received it.
  var mayHaveArrived: Bool {
    switch self {
    case .accepted, .unanswered: true
    case .refused, .unsent: false
    }
  }

  static func refused(_ status: Int, _ reason: String, since: Timestamp? = nil) -> PushOutcome {
    .refused(Refusal(status: status, reason: reason, timestamp: since))
  }
}
