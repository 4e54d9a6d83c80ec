import Base
import RideCore

/// The people, APNs answers and retry spread of a rehearsal.
struct RehearsalWorld: ReplayWorld {
  let people: DayPeople
  var states: TokenStates
  let answers: DayAnswers
  /// Spreads retries; nil takes the mean, as the preview does.
  let seed: UInt64?

  mutating func claim(_ view: inout RideView) { people.complete(&view, states) }

  func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome? {
    answers.outcome(of: push, at: now)
  }

  func spread(ofRide ride: RideID, at now: Timestamp) -> Double {
    guard let seed else { return 0.5 }
    var hash = StableHash()
    hash.add(seed)
    hash.add(ride.text)
    hash.add(UInt64(bitPattern: now.microseconds))
    return Double(hash.value >> 11) / 0x1p53
  }
}

/// The replay of a day by one set of rules, with its figures.
struct RehearsalSide {
  /// What is known of a ride while it goes on.
  private struct Going {
    var waiting: Set<PushID> = []
    var accepted: Set<PushID> = []
    var cards: [CardTarget: CardTrack] = [:]
    /// The last pushes of rules that await a receipt, by rule and token.
    var awaited: [String: PushID] = [:]
  }

  private struct CardTrack {
    var timestamp: Int64
    var isEnded = false
  }

  /// One decision, as far as others count or compare it.
  struct Step {
    var ride: RideID
    var pushes = 0
    var sent: [SentPush] = []
    /// Whether the ride has left the replay.
    var hasLeft = false
  }

  private var replay: RideReplay
  var world: RehearsalWorld
  private(set) var figures = RehearsalFigures()
  private var places: [RideID: Int] = [:]
  private var going: [Going] = []
  private let awaitingRules: Set<String>
  /// Whether an app registers each card that a push starts, because the day does not have that.
  private let inventsCards: Bool
  /// Whether pushes are returned for comparison; with all that were not sent, if they are compared
  /// with what was recorded.
  private let compares: Bool
  private let comparesFates: Bool
  private var cardsOverBudget: Set<UInt64> = []

  init(
    _ configuration: EngineConfiguration, _ world: RehearsalWorld, inventsCards: Bool,
    compares: Bool, comparesFates: Bool
  ) {
    replay = RideReplay([], by: configuration, from: Timestamp(microseconds: 0))
    self.world = world
    self.inventsCards = inventsCards
    self.compares = compares
    self.comparesFates = comparesFates
    awaitingRules = Set(configuration.rules.rules.filter { $0.escalation != nil }.map(\.name))
  }

  func has(_ ride: RideID) -> Bool { places[ride] != nil }

  /// Changes a ride, which joins the replay if it is not in it.
  mutating func change(
    _ id: RideID, _ row: Ride?, at now: Timestamp, _ change: (inout RideView) -> Bool
  ) {
    let place: Int
    if let known = places[id] {
      place = known
    } else {
      place = replay.insert(RideView(rideID: id, ride: row, phones: []))
      places[id] = place
      while going.count <= place { going.append(Going()) }
      going[place] = Going()
    }
    replay.change(place, at: now) { view in
      view.ride = row
      return change(&view)
    }
  }

  /// Records that a person saw the last push of a rule on a phone.
  mutating func see(_ push: DayPush, at now: Timestamp) {
    guard let place = places[push.ride],
      let id = going[place].awaited[push.rule + " " + (push.token ?? "")]
    else { return }
    replay.change(place, at: now) { view in
      view.seen.insert(id)
      return false
    }
  }

  /// Makes rides due that show one of their cards to a person.
  mutating func changePreference(of person: PhoneOwner, at now: Timestamp, event id: Int64) {
    for place in places.values {
      replay.change(place, at: now) { view in
        guard
          view.cards.contains(where: { PhoneOwner($0.app, $0.ownerID) == person && !$0.isGone })
        else { return false }
        let name = InternalEvent.preferenceChanged.rawValue
        view.events.append(RideEvent(id: id, name: name, at: now))
        return true
      }
    }
  }

  /// Takes the next decision before an instant; nil if nothing is due.
  mutating func next(before end: Timestamp) -> Step? {
    guard let step = replay.step(before: end, in: &world) else { return nil }
    world.states.record(step.settlement, world.people)
    var result = Step(ride: step.decision.view.rideID)
    for (rule, tally) in step.decision.settlement.tallies where tally.remainder != 0 {
      figures.breach(.slots, "ride \(result.ride), rule \(rule): \(tally)")
    }
    var accepted: [PushID: LedgerEntry] = [:]
    for entry in step.settlement.entries { count(entry, step, &accepted, &result) }
    for push in step.decision.pushes {
      let entry = accepted[push.entry.id]
      check(push, isAccepted: entry != nil, step)
      if let entry { count(push, entry, step, &result) }
    }
    for token in step.settlement.invalidations where token.kind == .activity {
      for card in step.decision.view.cards where card.isEnded(by: token) {
        going[step.ride].cards[card.target]?.isEnded = true
      }
    }
    if step.settlement.isOver { leave(step, &result) }
    return result
  }

  // Counting.

  private mutating func count(
    _ entry: LedgerEntry, _ step: RideReplay.Step, _ accepted: inout [PushID: LedgerEntry],
    _ result: inout Step
  ) {
    let ride = result.ride
    if entry.status == .pending {
      going[step.ride].waiting.insert(entry.id)
      return
    }
    going[step.ride].waiting.remove(entry.id)
    if entry.status == .accepted {
      accepted[entry.id] = entry
      if !going[step.ride].accepted.insert(entry.id).inserted {
        figures.breach(
          .oneFate, "\(CivilTime.exact(step.now)) ride \(ride), rule \(entry.rule): accepted twice")
      }
      if entry.kind == .push { return }
    } else {
      let reason = entry.reason?.code.word ?? entry.status.rawValue
      figures.notSent[entry.rule, default: [:]][reason, default: 0] += 1
    }
    guard comparesFates, !entry.rule.isEmpty else { return }
    result.sent.append(
      SentPush(
        at: step.now, rule: entry.rule, address: step.decision.view.token(of: entry) ?? "",
        status: entry.status, reason: entry.reason?.code.word))
  }

  private mutating func count(
    _ push: PlannedPush, _ entry: LedgerEntry, _ step: RideReplay.Step, _ result: inout Step
  ) {
    let digest = push.headers.digest(of: push.payload)
    var hash = StableHash()
    hash.add(digest)
    hash.add(UInt64(bitPattern: step.now.microseconds))
    hash.add(result.ride.text)
    result.pushes += 1
    figures.byRule[entry.rule, default: .init()].pushes += 1
    figures.byRule[entry.rule, default: .init()].digest &+= hash.value
    figures.byType[entry.pushType.rawValue, default: 0] += 1
    figures.byPriority[push.headers.priority.rawValue, default: 0] += 1
    let seconds = step.now.epochSeconds
    figures.byMinute[seconds / 60, default: 0] += 1
    if let owner = entry.owner ?? step.decision.view.owner(of: entry) {
      let hour = RehearsalFigures.OwnerHour(
        app: entry.app, owner: owner, hour: seconds / 3600)
      figures.byOwnerHour[hour, default: 0] += 1
    }
    if entry.reason?.code == .engine(.overBudget) {
      figures.overBudgetPushes += 1
      var card = StableHash()
      card.add(result.ride.text)
      card.add(push.address.text)
      if cardsOverBudget.insert(card.value).inserted { figures.overBudgetCards += 1 }
    }
    if awaitingRules.contains(entry.rule) {
      going[step.ride].awaited[entry.rule + " " + push.address.text] = entry.id
    }
    if inventsCards, let id = entry.startToken { register(id, step) }
    guard compares else { return }
    result.sent.append(
      SentPush(
        at: step.now, rule: entry.rule, address: push.address.text, status: .accepted,
        reason: entry.reason?.code.word, digest: digest, content: push.payload,
        headers: push.headers))
  }

  /// Registers a card that a push started, as the app does when iOS has shown it.
  private mutating func register(_ startToken: Int64, _ step: RideReplay.Step) {
    let ride = step.decision.view.rideID
    guard let token = step.decision.view.startTokens.first(where: { $0.id == startToken }) else {
      return
    }
    let id = PushID(of: "card", ride.text, token.token, token.attributesType)
    let card = Card(
      startedBy: token, id: Int64(truncatingIfNeeded: id.bits & 0x7fff_ffff_ffff_ffff), token: id,
      at: step.now + .seconds(1))
    replay.add(.card(card), to: step.ride, at: step.now + .seconds(1))
  }

  // Promises.

  private mutating func check(
    _ push: PlannedPush, isAccepted: Bool, _ step: RideReplay.Step
  ) {
    let place =
      "\(CivilTime.exact(step.now)) ride \(step.decision.view.rideID), rule \(push.entry.rule)"
    if step.now >= push.validUntil {
      figures.breach(.validity, "\(place): valid until \(CivilTime.exact(push.validUntil))")
    }
    guard let card = push.step else { return }
    if let known = going[step.ride].cards[card.card],
      known.isEnded || card.timestamp <= known.timestamp
    {
      let what = known.isEnded ? "a push after its end" : "the timestamp \(card.timestamp)"
      figures.breach(.timestamps, "\(place): \(what)")
    }
    going[step.ride].cards[card.card] = CardTrack(
      timestamp: card.timestamp, isEnded: card.event == .end && isAccepted)
  }

  private mutating func leave(_ step: RideReplay.Step, _ result: inout Step) {
    let place = "\(CivilTime.exact(step.now)) ride \(result.ride)"
    let known = going[step.ride]
    if !known.waiting.isEmpty {
      figures.breach(.oneFate, "\(place): \(known.waiting.count) pushes without a fate")
    }
    let gone = step.decision.view.cards.filter(\.isGone).map(\.target)
    if known.cards.contains(where: { !$0.value.isEnded && !gone.contains($0.key) }) {
      figures.breach(.cardEnds, "\(place): a card without an end")
    }
    replay.remove(step.ride)
    places[result.ride] = nil
    going[step.ride] = Going()
    result.hasLeft = true
  }
}

extension RideView {
  /// The token or channel of an entry that was not sent; nil if it names none.
  fileprivate func token(of entry: LedgerEntry) -> String? {
    if let id = entry.phone { return phones.first { $0.id == id }?.token }
    if let id = entry.startToken { return startTokens.first { $0.id == id }?.token }
    return entry.card.flatMap { target in cards.first { $0.target == target }?.token }
  }

  fileprivate func owner(of entry: LedgerEntry) -> OwnerID? {
    if let target = entry.card { return cards.first { $0.target == target }?.ownerID }
    return entry.startToken.flatMap { id in startTokens.first { $0.id == id }?.ownerID }
  }
}
