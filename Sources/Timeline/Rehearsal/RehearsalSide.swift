import Base
import RideCore

/// The replay of a day by one set of rules, with its figures.
struct RehearsalSide {
  /// What is known of a ride while it goes on.
  private struct Going {
    var waiting: Set<PushID> = []
    var accepted: Set<PushID> = []
    var cards: [CardTarget: CardTrack] = [:]
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
    /// The limits that the phones of a ride that has left broke.
    var broken: [LimitBreak] = []
  }

  private(set) var replay: Replay
  private(set) var figures = RehearsalFigures()
  /// By the index of the ride in the world.
  private var going: [Going] = []
  /// Whether pushes are returned for comparison; with all that were not sent, if they are compared
  /// with what was recorded.
  private let compares: Bool
  private let comparesFates: Bool
  private var cardsOverBudget: Set<UInt64> = []
  /// Nil if only pushes are compared.
  private var watch: ScreenWatch?

  init(_ replay: Replay, compares: Bool, comparesFates: Bool, watch: ScreenWatch? = nil) {
    self.replay = replay
    self.watch = watch
    self.compares = compares
    self.comparesFates = comparesFates
  }

  mutating func apply(_ change: Change, at now: Timestamp, id: Int64) {
    replay.apply(change, at: now, id: id)
  }

  /// Takes the next decision before an instant; nil if nothing is due.
  mutating func next(before end: Timestamp) -> Step? {
    guard let pass = replay.next(before: end) else { return nil }
    while going.count <= pass.index { going.append(Going()) }
    var result = Step(ride: pass.ride)
    for (rule, tally) in pass.decision.settlement.tallies where tally.remainder != 0 {
      figures.breach(.slots, "ride \(result.ride), rule \(rule): \(tally)")
    }
    var accepted: [PushID: LedgerEntry] = [:]
    for entry in pass.settlement.entries { count(entry, pass, &accepted, &result) }
    for push in pass.decision.pushes {
      let entry = accepted[push.entry.id]
      check(push, isAccepted: entry != nil, pass)
      if let entry { count(push, entry, pass, &result) }
    }
    watch?.add(pass)
    for token in pass.settlement.invalidations where token.kind == .activity {
      for card in pass.decision.view.cards where card.isEnded(by: token) {
        going[pass.index].cards[card.target]?.isEnded = true
      }
    }
    if pass.settlement.isOver { leave(pass, &result) }
    return result
  }

  /// The day is over: returns the limits that the phones of rides that still go on broke.
  mutating func finish(at end: Timestamp) -> [LimitBreak] {
    let broken = watch?.endAll(at: end) ?? []
    figures.attention = watch?.figures ?? [:]
    return broken
  }

  // Counting.

  private mutating func count(
    _ entry: LedgerEntry, _ pass: Pass, _ accepted: inout [PushID: LedgerEntry],
    _ result: inout Step
  ) {
    let ride = result.ride
    if entry.status == .pending {
      going[pass.index].waiting.insert(entry.id)
      return
    }
    going[pass.index].waiting.remove(entry.id)
    if entry.status == .accepted {
      accepted[entry.id] = entry
      if !going[pass.index].accepted.insert(entry.id).inserted {
        figures.breach(
          .oneFate, "\(CivilTime.exact(pass.now)) ride \(ride), rule \(entry.rule): accepted twice")
      }
      if entry.kind.isSent { return }
    } else {
      let reason = entry.reason?.code.word ?? entry.status.rawValue
      figures.notSent[entry.rule, default: [:]][reason, default: 0] += 1
    }
    guard comparesFates, !entry.rule.isEmpty else { return }
    result.sent.append(
      SentPush(
        at: pass.now, rule: entry.rule, address: pass.decision.view.token(of: entry) ?? "",
        status: entry.status, reason: entry.reason?.code.word))
  }

  private mutating func count(
    _ push: PlannedPush, _ entry: LedgerEntry, _ pass: Pass, _ result: inout Step
  ) {
    let digest = push.headers.digest(of: push.payload)
    var hash = StableHash()
    hash.add(digest)
    hash.add(UInt64(bitPattern: pass.now.microseconds))
    hash.add(result.ride.text)
    result.pushes += 1
    figures.byRule[entry.rule, default: .init()].pushes += 1
    figures.byRule[entry.rule, default: .init()].digest &+= hash.value
    figures.byType[entry.typeName, default: 0] += 1
    figures.byPriority[push.headers.priority.rawValue, default: 0] += 1
    let seconds = pass.now.epochSeconds
    figures.byMinute[seconds / 60, default: 0] += 1
    if let owner = entry.owner ?? pass.decision.view.owner(of: entry) {
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
    guard compares else { return }
    result.sent.append(
      SentPush(
        at: pass.now, rule: entry.rule,
        // A record has no address of a post.
        address: entry.kind == .post ? "" : push.address.text, status: .accepted,
        reason: entry.reason?.code.word, digest: digest, content: push.payload,
        headers: push.headers))
  }

  // Promises.

  private mutating func check(
    _ push: PlannedPush, isAccepted: Bool, _ pass: Pass
  ) {
    let context =
      "\(CivilTime.exact(pass.now)) ride \(pass.decision.view.rideID), rule \(push.entry.rule)"
    if pass.now >= push.validUntil {
      figures.breach(.validity, "\(context): valid until \(CivilTime.exact(push.validUntil))")
    }
    guard let card = push.step else { return }
    if let known = going[pass.index].cards[card.card],
      known.isEnded || card.timestamp <= known.timestamp
    {
      let what = known.isEnded ? "a push after its end" : "the timestamp \(card.timestamp)"
      figures.breach(.timestamps, "\(context): \(what)")
    }
    going[pass.index].cards[card.card] = CardTrack(
      timestamp: card.timestamp, isEnded: card.event == .end && isAccepted)
  }

  private mutating func leave(_ pass: Pass, _ result: inout Step) {
    let context = "\(CivilTime.exact(pass.now)) ride \(result.ride)"
    let known = going[pass.index]
    if !known.waiting.isEmpty {
      figures.breach(.oneFate, "\(context): \(known.waiting.count) pushes without a fate")
    }
    let gone = pass.decision.view.cards.filter(\.isGone).map(\.target)
    if known.cards.contains(where: { !$0.value.isEnded && !gone.contains($0.key) }) {
      figures.breach(.cardEnds, "\(context): a card without an end")
    }
    replay.remove(pass.ride)
    going[pass.index] = Going()
    result.broken = watch?.end(pass.index, at: pass.now) ?? []
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
