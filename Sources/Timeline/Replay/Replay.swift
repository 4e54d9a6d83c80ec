package import Base
package import RideCore

/// Takes a world through time with the service's own decisions: what would be sent, and when.
///
/// The clock jumps from one due ride to the next. Without a change it shows what follows from the
/// present state: every push is accepted at once, every channel is created, and no ride changes.
package struct Replay {
  private let configuration: EngineConfiguration
  private var world: World
  private var agenda: Heap<Due>
  /// When each ride is due. An entry of the agenda with another time is outdated: a change made its
  /// ride due earlier.
  private var dues: [Timestamp?]
  private var coming: Heap<ComingChange>
  private var added = 0

  /// Creates a replay of a world.
  ///
  /// - Parameter start: When all of its rides are due first.
  package init(_ world: World, by configuration: EngineConfiguration, from start: Timestamp) {
    self.world = world
    self.configuration = configuration
    agenda = Heap(world.views.indices.map { Due(due: start, ride: $0) })
    dues = world.views.map { _ in start }
    coming = Heap()
  }

  /// Adds a change that happens at some time; changes of equal time happen in the order in which they
  /// are added.
  mutating func add(_ change: Change, at instant: Timestamp) {
    added += 1
    coming.insert(ComingChange(at: instant, number: added, change: change))
  }

  /// Applies a change that happens now.
  ///
  /// - Parameter id: That of what it creates; nil takes the next one.
  mutating func apply(_ change: Change, at now: Timestamp, id: Int64? = nil) {
    let due = world.apply(change, at: now, id: id)
    while dues.count < world.views.count { dues.append(nil) }
    for ride in due {
      if let known = dues[ride], known <= now { continue }
      dues[ride] = now
      agenda.insert(Due(due: now, ride: ride))
    }
  }

  /// Returns whether a ride is in the replay.
  func has(_ ride: RideID) -> Bool { world.index(of: ride) != nil }

  /// Removes a ride that is over: a replay of a whole day holds only those that are not.
  mutating func remove(_ ride: RideID) {
    guard let index = world.index(of: ride) else { return }
    world.remove(index)
    dues[index] = nil
  }

  /// Takes the next decision before an instant; nil if nothing is due.
  ///
  /// Rides that are due at the same time come in the order in which they were given.
  package mutating func next(before end: Timestamp) -> Pass? {
    applyChanges(before: end)
    guard let entry = agenda.first, entry.due < end else { return nil }
    let (now, ride) = (entry.due, entry.ride)
    let view = world.claim(ride)
    let own = configuration.deciding(view.rideID)
    let decision = decide(view, by: own, now: now) { requests in
      world.refuse(requests, at: now)
    }
    let outcomes = decision.pushes.map { world.outcome(of: $0, at: now) }
    let settlement = decision.settled(outcomes, now: now) {
      world.spread(ofRide: decision.view.rideID, at: now)
    }
    for change in world.apply(settlement, of: decision, to: ride, at: now) {
      add(change, at: now + .seconds(1))
    }
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
    return Pass(now: now, index: ride, decision: decision, settlement: settlement)
  }

  /// Applies the changes that happen before the next ride falls due, or with it.
  private mutating func applyChanges(before end: Timestamp) {
    while true {
      while let first = agenda.first, dues[first.ride] != first.due { _ = agenda.popFirst() }
      guard let next = coming.first, next.at < end, agenda.first.map({ next.at <= $0.due }) ?? true
      else { return }
      _ = coming.popFirst()
      // The ride of a card may have left since a push started it.
      if case .card = next.change, let ride = next.change.ride, !has(ride) { continue }
      apply(next.change, at: next.at)
    }
  }
}

/// One decision of a replay, and what came of it.
package struct Pass: Sendable {
  package var now: Timestamp
  /// The ride's index in the world.
  let index: Int
  package var decision: Decision
  /// What the service would write after it.
  package var settlement: Settlement

  package var ride: RideID { decision.view.rideID }
}

extension RideView {
  /// Returns the phone that a push is for: also an Android phone that shows a card.
  func phone(of entry: LedgerEntry) -> Phone? {
    entry.phone.flatMap { id in phones.first { $0.id == id } }
  }

  /// Returns the system of the phone that a push is for; nil if it is for none. Cards and their starts
  /// with tokens of their own are on iPhones.
  func platform(of entry: LedgerEntry) -> Platform? {
    if let phone = phone(of: entry) { return phone.platform }
    return entry.card != nil || entry.startToken != nil ? .ios : nil
  }

  /// Returns the locale of the phone that a push is for; of a card's push, that of its phone.
  func locale(of entry: LedgerEntry) -> String? {
    if let phone = phone(of: entry) { return phone.locale }
    return entry.phone == nil ? iPhone(of: entry)?.locale : nil
  }

  /// Returns the iPhone on which the card is, or starts, that a push is for.
  func iPhone(of entry: LedgerEntry) -> Phone? {
    let installation =
      if let id = entry.startToken {
        startTokens.first { $0.id == id }?.installationID
      } else {
        entry.card.flatMap { target in cards.first { $0.target == target }?.installationID }
      }
    return iPhone(of: entry.owner, in: entry.app, with: installation)
  }

  /// Returns a person's iPhone with an installation of an app; without an installation, the first.
  ///
  /// - Parameter owner: Nil for anyone.
  func iPhone(of owner: OwnerID?, in app: App, with installation: InstallationID?) -> Phone? {
    let own = phones.filter {
      $0.platform == .ios && $0.app == app && (owner == nil || $0.ownerID == owner)
    }
    let phone = own.first { installation != nil && $0.installationID == installation }
    return phone ?? own.first
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

/// A change that is still to happen.
private struct ComingChange: Comparable, Sendable {
  var at: Timestamp
  var number: Int
  var change: Change

  static func == (left: ComingChange, right: ComingChange) -> Bool {
    left.number == right.number
  }

  static func < (left: ComingChange, right: ComingChange) -> Bool {
    (left.at, left.number) < (right.at, right.number)
  }
}
