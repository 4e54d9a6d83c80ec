package import Base
package import RideCore

/// A ride and what happens to it: the input of a replay, read from a file or invented.
package struct Scenario: Hashable, Sendable {
  /// When it begins.
  package var start: Timestamp
  /// The ride with its phones and cards just before that.
  package var view: RideView
  /// What happens, in the order of time.
  package var steps: [ScenarioStep] = []
  /// How long it is followed, if it states that.
  package var length: Duration?
  /// The owners of phones that report no receipts; all others do.
  package var withoutReceipts: Set<PhoneOwner> = []
  /// When phones are away and a Focus is on, in the order of `view.phones`; what is decided does not depend
  /// on it, because APNs does not report it.
  package var phones: [ScenarioPhone] = []
  /// Whether it leaves the choice of phones to its reader.
  package var lacksPhones = false

  package init(start: Timestamp, view: RideView) {
    self.start = start
    self.view = view
  }

  /// Returns a replay of it.
  package func replay(by configuration: EngineConfiguration) -> Replay {
    let tables = AppTables(for: [configuration], from: start, assumesReceipts: true)
    tables.add(view)
    for person in withoutReceipts { tables.setReceipts(of: person, to: false) }
    // Without a row there is no ride, only people with events of their own.
    let world = World(
      view.ride == nil ? [] : [view], for: configuration, tables: tables,
      startedCards: .numbered(after: 1_000_000))
    var replay = Replay(world, by: configuration, from: start)
    for step in steps {
      for change in step.changes { replay.add(change, at: step.at) }
    }
    return replay
  }
}

extension Scenario {
  /// The zone in which times of it are shown.
  package var zoneName: String { view.ride?.timeZone ?? "UTC" }

  /// Adds the last contact of a person with an app before the start, on one phone or on all.
  package mutating func addContact(
    of app: App, _ owner: OwnerID, _ installation: InstallationID?, at instant: Timestamp
  ) {
    view.contacts.removeAll { $0.app == app && $0.owner == owner && $0.at <= instant }
    if !view.contacts.contains(where: { $0.app == app && $0.owner == owner }) {
      view.contacts.append(OwnerContact(app: app, owner: owner, at: instant))
    }
    for index in view.phones.indices
    where view.phones[index].app == app && view.phones[index].ownerID == owner
      && view.phones[index].mayBe(installation)
    {
      let known = view.phones[index].contactedAt
      view.phones[index].contactedAt = known.map { max($0, instant) } ?? instant
    }
  }

  /// Returns the ride's row as the scenario's changes leave it at some time.
  func ride(at instant: Timestamp) -> Ride? {
    var ride = view.ride
    for step in steps where step.at <= instant {
      for case .ride(let update) in step.changes { ride?.set(update) }
    }
    return ride
  }
}

/// What happens to a ride at one time.
package struct ScenarioStep: Hashable, Sendable {
  package var at: Timestamp
  package var changes: [Change]

  package init(at: Timestamp, _ changes: [Change]) {
    self.at = at
    self.changes = changes
  }

  /// What it is, for people, such as `driver_arrived` or `contact of driver`.
  package var title: String {
    changes.map { change in
      switch change {
      case .ride(let update): (update.state ?? nil) ?? "ride_updated"
      case .event(let event): event.name
      case .contact(let contact): "contact of \(contact.app)"
      case .seen(let push, _): "the push of \(push.rule) is seen"
      case .card(let card): "a card of \(card.app) is registered"
      case .phone(let phone), .pushToStart(let phone): "a phone of \(phone.app) is registered"
      case .preference(let choice): "a preference about \(choice.optOut.topic)"
      case .answers(let outcome, let until, let platform):
        "\(platform.service): \(outcome.reason)"
          + (until.map { " until \(CivilTime.iso($0))" } ?? "")
      }
    }.joined(separator: ", ")
  }
}
