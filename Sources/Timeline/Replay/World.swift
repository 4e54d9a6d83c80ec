import Base
package import RideCore

/// Everything outside of the rules: rides with their cards and channels, people with their phones,
/// what APNs and FCM answer, and what `at-most` counts.
///
/// It moves in two ways: a change happens, or the settlement of a decision is applied.
package struct World {
  /// The rides by index, as the next decision reads them.
  private(set) var views: [RideView]
  private var indices: [RideID: Int]
  /// The indices of rides that were removed.
  private var free: [Int] = []
  /// The rows that apps write; nil if each ride has the data of its people.
  private let tables: AppTables?
  private var tokens = TokenStates()
  private var receipts: Receipts
  private var answers: Answers
  private var permits: PermitBook
  /// The highest ID of an event that a change emitted.
  private var lastEvent: Int64 = 0
  /// The apps whose people a ride concerns.
  private let apps: [App]
  /// The APNs environment of new channels.
  private let environment: APNsEnvironment
  /// Spreads retries; nil takes the mean.
  private let seed: UInt64?
  private var startedCards: StartedCards

  /// What apps do with the cards that pushes start.
  enum StartedCards {
    case notRegistered
    /// They register them, with IDs after this one.
    case numbered(after: Int64)
    /// They register them, with IDs that are the same in every replay of the ride.
    case named
  }

  /// Creates a world of rides that have the data of their people, in which nothing happens unless a
  /// rule sends it.
  ///
  /// - Parameter permits: What was sent before.
  package init(
    _ views: [RideView], for configuration: EngineConfiguration, permits: PermitBook = PermitBook()
  ) {
    self.init(views, for: configuration, tables: nil, permits: permits)
  }

  init(
    _ views: [RideView], for configuration: EngineConfiguration, tables: AppTables?,
    answers: Answers = Answers(), permits: PermitBook = PermitBook(), seed: UInt64? = nil,
    startedCards: StartedCards = .notRegistered
  ) {
    self.views = views
    indices = Dictionary(
      views.enumerated().map { ($1.rideID, $0) }, uniquingKeysWith: { first, _ in first })
    self.tables = tables
    self.answers = answers
    self.permits = permits
    self.seed = seed
    self.startedCards = startedCards
    let rules = configuration.allRules
    receipts = Receipts(for: rules)
    apps = Set(rules.apps).union([.customer, .driver])
      .sorted { $0.rawValue < $1.rawValue }
    environment = configuration.defaultEnvironment
  }

  /// Returns the index of a ride; nil if it is not in the world, or was removed.
  func index(of ride: RideID) -> Int? { indices[ride] }

  /// Removes a ride; another one may get its index.
  mutating func remove(_ index: Int) {
    indices[views[index].rideID] = nil
    views[index] = RideView(rideID: "", ride: nil, phones: [])
    free.append(index)
  }

  /// Returns a ride as a claim reads it.
  mutating func claim(_ index: Int) -> RideView {
    if let tables {
      tables.complete(&views[index], tokens, of: apps)
    } else {
      views[index].reporters = views[index].memo.escalationOwners
    }
    return views[index]
  }

  func outcome(of push: PlannedPush, at now: Timestamp) -> PushOutcome {
    answers.outcome(of: push, at: now)
  }

  /// Returns a number from 0 up to 1 that spreads a retry.
  func spread(ofRide ride: RideID, at now: Timestamp) -> Double {
    guard let seed else { return 0.5 }
    var hash = StableHash()
    hash.add(seed)
    hash.add(ride.text)
    hash.add(UInt64(bitPattern: now.microseconds))
    return Double(hash.value >> 11) / 0x1p53
  }
}

// The first way: a change happens.
extension World {
  /// Applies a change; returns the indices of the rides that it made due.
  ///
  /// - Parameter id: That of what it creates; nil takes the next one.
  mutating func apply(_ change: Change, at now: Timestamp, id: Int64? = nil) -> [Int] {
    let id = id ?? nextEvent(of: change.ride)
    switch change {
    case .ride(let update):
      guard let row = tables?.update(update, at: now, event: id) else { return [] }
      return self.change(update.id, isDue: row.isDue) { view in
        view.ride = row.ride
        if let event = row.event { view.events.append(event) }
      }
    case .event(let event):
      guard let ride = event.ride else {
        // One event for each person, with one ID, so that they are told apart from other events.
        return event.personal(of: apps).reduce(into: []) { due, own in
          due += apply(.event(own), at: now, id: id)
        }
      }
      let data = JSONValue.object(event.data).text
      var emitted = RideEvent(id: id, name: event.name, at: now, data: data)
      if !ride.isOfPerson {
        let row = tables?.row(of: ride)
        emitted.people = EventPeople(customer: row?.customerID, driver: row?.driverID)
      }
      return self.change(ride) { view in view.events.append(emitted) }
    case .card(let registration):
      guard let ride = registration.ride else { return [] }
      let cardID = registration.id ?? tables?.cardID(of: registration, else: id >> 10) ?? id
      let card = Card(registration, id: cardID, at: now)
      let event = registration.isRemoved ? InternalEvent.cardEnded : .cardRegistered
      return self.change(ride) { view in
        view.cards.removeAll { $0.target == card.target }
        view.cards.append(card)
        view.events.append(RideEvent(id: id, name: event.rawValue, at: now))
      }
    case .phone(let registration):
      if let phone = tables?.set(phone: registration, id: id, at: now) {
        tokens.registered(phone: phone)
      }
    case .pushToStart(let registration): tables?.set(start: registration, id: id, at: now)
    case .contact(let contact): tables?.contact(contact, at: now)
    case .seen(let push, let owner):
      guard let index = indices[push.ride] else { return [] }
      views[index].seen.formUnion(receipts.pushes(push, ofRide: index, by: owner))
    case .preference(let preference):
      guard let tables, let optOut = tables.set(preference), tables.cardsHaveTopics else {
        return []
      }
      return refreshCards(of: optOut, at: now, id)
    case .answers(let outcome, let until, let platform):
      answers.stated[platform] = Answers.Stated(outcome: outcome, until: until)
    }
    return []
  }

  /// Returns an ID above those of all events that changes emitted and that the ride still has.
  private func nextEvent(of ride: RideID?) -> Int64 {
    let events = ride.flatMap { indices[$0] }.map { views[$0].events } ?? []
    return max(lastEvent, events.map(\.id).max() ?? 0) + 1
  }

  /// Changes a ride, which joins the world if it is not in it.
  private mutating func change(
    _ ride: RideID, isDue: Bool = true, _ change: (inout RideView) -> Void
  ) -> [Int] {
    let index =
      indices[ride] ?? insert(RideView(rideID: ride, ride: tables?.row(of: ride), phones: []))
    change(&views[index])
    if !isDue { return [] }
    lastEvent = max(lastEvent, views[index].events.last?.id ?? 0)
    return [index]
  }

  private mutating func insert(_ view: RideView) -> Int {
    let index: Int
    if let left = free.popLast() {
      index = left
      views[index] = view
    } else {
      index = views.count
      views.append(view)
    }
    indices[view.rideID] = index
    receipts.forget(index)
    return index
  }

  /// Makes rides due that show one of their cards to a person.
  private mutating func refreshCards(of optOut: OptOut, at now: Timestamp, _ id: Int64) -> [Int] {
    let name = InternalEvent.preferenceChanged.rawValue
    let shown = views.filter { view in
      view.cards.contains { $0.app == optOut.app && $0.ownerID == optOut.owner && !$0.isGone }
    }
    return shown.flatMap { view in
      change(view.rideID) { $0.events.append(RideEvent(id: id, name: name, at: now)) }
    }
  }
}

// The second way: a decision is settled.
extension World {
  /// Grants the permits that a decision asks for; returns those that are refused.
  mutating func refuse(_ requests: [PermitRequest], at now: Timestamp) -> Set<PushID> {
    permits.refuse(requests, at: now)
  }

  /// Applies the settlement of a decision; returns what apps do because of it, a second later.
  mutating func apply(
    _ settlement: Settlement, of decision: Decision, to ride: Int, at now: Timestamp
  ) -> [Change] {
    views[ride].apply(settlement)
    if let tables { tokens.record(settlement, tables) }
    receipts.record(settlement, decision, ofRide: ride)
    permits.settle(settlement.permits, at: now)
    for need in settlement.needs {
      guard let id = ChannelID("preview") else { continue }
      views[ride].channels.append(
        RideChannel(
          id: Int64.max, app: need.app, environment: environment, storage: need.storage,
          createdAt: now, standing: .open(id)))
    }
    if case .notRegistered = startedCards { return [] }
    return settlement.entries.compactMap { entry in
      guard entry.status == .accepted, let id = entry.startToken,
        let token = decision.view.startTokens.first(where: { $0.id == id })
      else { return nil }
      var number: Int64?
      if case .numbered(let last) = startedCards {
        number = last + 1
        startedCards = .numbered(after: last + 1)
      }
      return .card(Registration(startedBy: token, ride: decision.view.rideID, id: number))
    }
  }
}
