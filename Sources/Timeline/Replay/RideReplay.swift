package import Base
package import RideCore

/// Takes rides through time with the service's own decisions: what would be sent, and when.
///
/// The clock jumps from one due ride to the next. Without a script every push is assumed to be
/// accepted at once, every channel to be created, and no ride changes: the preview shows what follows
/// from the present state. A script changes rides on the way, as a story or a test states it.
package struct RideReplay: Sendable {
  private let configuration: EngineConfiguration
  private var views: [RideView]
  private var agenda: Heap<Due>
  /// What `at-most` counts, over all rides.
  private var permits: PermitBook
  /// When each ride is due. An entry of the agenda with another time is outdated: a change made its
  /// ride due earlier.
  private var dues: [Timestamp?]
  private var script: Heap<ScriptedChange>
  private var scripted = 0
  /// The ID of the last event that the script emitted.
  private var lastEvent: Int64
  private var answer = ScriptedAnswer()
  /// The places of rides that have left.
  private var free: [Int] = []
  /// What rules sent last; nil unless the script has a receipt.
  private var sent: SentPushes?

  /// One decision of a replay.
  package struct Step: Sendable {
    package var now: Timestamp
    /// The ride's place.
    package var ride: Int
    package var decision: Decision
    /// What the service would write after it.
    package var settlement: Settlement
  }

  /// Creates a replay of rides in their present state, all of them due first at `start`.
  ///
  /// - Parameter permits: what was sent before.
  package init(
    _ views: [RideView], by configuration: EngineConfiguration, from start: Timestamp,
    permits: PermitBook = PermitBook()
  ) {
    self.views = views
    self.permits = permits
    self.configuration = configuration
    agenda = Heap(views.indices.map { Due(due: start, ride: $0) })
    dues = views.map { _ in start }
    script = Heap()
    lastEvent = 0
  }

  /// Adds a change that happens to a ride at some time; changes of equal time happen in the order in
  /// which they are added.
  ///
  /// - Parameter ride: The ride's place among those that the replay was created with.
  package mutating func add(_ change: RideChange, to ride: Int, at instant: Timestamp) {
    guard views.indices.contains(ride) else { return }
    scripted += 1
    if case .seen = change, sent == nil { sent = SentPushes() }
    script.insert(
      ScriptedChange(
        at: instant, number: scripted, ride: ride, rideID: views[ride].rideID, change: change))
  }

  /// Returns the decision on the next ride that falls due before an instant; nil if there is none.
  ///
  /// Rides that are due at the same time come in the order in which they were given.
  package mutating func next(before end: Timestamp) -> (now: Timestamp, decision: Decision)? {
    step(before: end).map { ($0.now, $0.decision) }
  }

  /// Returns the same with the settlement of the decision.
  package mutating func step(before end: Timestamp) -> Step? {
    var world = ScriptedWorld()
    return step(before: end, in: &world)
  }

  /// Returns the same; what is outside of the rides comes from a world.
  package mutating func step(before end: Timestamp, in world: inout some ReplayWorld) -> Step? {
    applyScript(before: end)
    guard let entry = agenda.first, entry.due < end else { return nil }
    let (now, ride) = (entry.due, entry.ride)
    world.claim(&views[ride])
    let decision = decide(views[ride], by: configuration, now: now) { requests in
      permits.refuse(requests, at: now)
    }
    let outcome = answer.outcome(at: now)
    let outcomes = decision.pushes.map { world.outcome(of: $0, at: now) ?? outcome }
    let settlement = decision.settled(outcomes, now: now) {
      world.spread(ofRide: decision.view.rideID, at: now)
    }
    views[ride].apply(settlement)
    sent?.record(settlement.entries, ofRide: ride)
    permits.settle(settlement.permits, at: now)
    open(settlement.needs, ofRide: ride, at: now)
    // At least a microsecond later, so that the clock always advances.
    let least = now + .microseconds(1)
    if settlement.isOver {
      dues[ride] = nil
    } else {
      dues[ride] = settlement.needs.isEmpty ? settlement.nextDue.map { max($0, least) } : least
    }
    if let due = dues[ride] {
      agenda.replaceFirst(with: Due(due: due, ride: ride))
    } else {
      _ = agenda.popFirst()
    }
    return Step(now: now, ride: ride, decision: decision, settlement: settlement)
  }

  // A replay of a whole day holds only rides that are not over: they are added and removed on the way.

  /// Adds a ride without anything to decide; returns its place.
  package mutating func insert(_ view: RideView) -> Int {
    guard let place = free.popLast() else {
      views.append(view)
      dues.append(nil)
      return views.count - 1
    }
    views[place] = view
    return place
  }

  /// Removes a ride; its place may be given to another one.
  package mutating func remove(_ ride: Int) {
    guard views.indices.contains(ride) else { return }
    views[ride] = RideView(rideID: "", ride: nil, phones: [])
    dues[ride] = nil
    free.append(ride)
  }

  /// Changes a ride's data at some time, and makes it due then if the change requires it.
  package mutating func change(
    _ ride: Int, at instant: Timestamp, _ change: (inout RideView) -> Bool
  ) {
    guard views.indices.contains(ride), change(&views[ride]) else { return }
    lastEvent = max(lastEvent, views[ride].events.last?.id ?? 0)
    makeDue(ride, at: instant)
  }

  /// Applies the changes that happen before the next ride falls due, or with it.
  private mutating func applyScript(before end: Timestamp) {
    while true {
      while let first = agenda.first, dues[first.ride] != first.due { _ = agenda.popFirst() }
      guard let next = script.first, next.at < end, agenda.first.map({ next.at <= $0.due }) ?? true
      else { return }
      _ = script.popFirst()
      apply(next)
    }
  }

  private mutating func apply(_ scripted: ScriptedChange) {
    if case .answer(let outcome, let until) = scripted.change {
      answer = ScriptedAnswer(outcome: outcome, until: until)
      return
    }
    let ride = scripted.ride
    // The ride may have left its place to another one.
    guard views[ride].rideID == scripted.rideID else { return }
    if case .seen(let rule, let owner) = scripted.change {
      views[ride].seen.formUnion(sent?.pushes(of: rule, ofRide: ride, to: owner) ?? [])
    }
    lastEvent = max(lastEvent, views[ride].events.map(\.id).max() ?? 0)
    guard views[ride].apply(scripted.change, at: scripted.at, event: lastEvent + 1) else { return }
    lastEvent += 1
    makeDue(ride, at: scripted.at)
  }

  private mutating func makeDue(_ ride: Int, at instant: Timestamp) {
    if let due = dues[ride], due <= instant { return }
    dues[ride] = instant
    agenda.insert(Due(due: instant, ride: ride))
  }

  /// Creates the channels that a ride needs, at once.
  private mutating func open(_ needs: [ChannelNeed], ofRide ride: Int, at now: Timestamp) {
    for need in needs {
      guard let id = ChannelID("preview") else { continue }
      views[ride].channels.append(
        RideChannel(
          id: Int64.max, app: need.app, environment: configuration.defaultEnvironment,
          storage: need.storage, createdAt: now, standing: .open(id)))
    }
  }
}

/// A ride and the time when it is due.
private struct Due: Comparable, Sendable {
  var due: Timestamp
  var ride: Int

  static func < (left: Due, right: Due) -> Bool {
    (left.due, left.ride) < (right.due, right.ride)
  }
}

/// A change of a ride that is still to happen.
private struct ScriptedChange: Comparable, Sendable {
  var at: Timestamp
  var number: Int
  var ride: Int
  var rideID: RideID
  var change: RideChange

  static func == (left: ScriptedChange, right: ScriptedChange) -> Bool {
    left.number == right.number
  }

  static func < (left: ScriptedChange, right: ScriptedChange) -> Bool {
    (left.at, left.number) < (right.at, right.number)
  }
}

/// What APNs answers in a replay; it accepts everything unless the script states otherwise.
private struct ScriptedAnswer: Sendable {
  var outcome = PushOutcome.accepted
  var until: Timestamp?

  func outcome(at now: Timestamp) -> PushOutcome {
    if let until, now >= until { return .accepted }
    return outcome
  }
}

/// The pushes of each rule's last firing, for the receipts of a script.
private struct SentPushes: Sendable {
  private struct Key: Hashable, Sendable {
    var ride: Int
    var rule: String
  }

  private var last: [Key: [LedgerEntry]] = [:]

  mutating func record(_ entries: [LedgerEntry], ofRide ride: Int) {
    for entry in entries where entry.status == .accepted {
      let key = Key(ride: ride, rule: entry.rule)
      if last[key]?.first?.event.key != entry.event.key { last[key] = [] }
      last[key]?.append(entry)
    }
  }

  func pushes(of rule: String, ofRide ride: Int, to owner: OwnerID?) -> [PushID] {
    (last[Key(ride: ride, rule: rule)] ?? [])
      .filter { owner == nil || $0.owner == owner }.map(\.id)
  }
}
