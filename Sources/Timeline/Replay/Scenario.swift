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
  /// Whether it leaves the choice of phones to its reader.
  package var lacksPhones = false

  package init(start: Timestamp, view: RideView) {
    self.start = start
    self.view = view
  }

  /// Returns a replay of it.
  package func replay(by configuration: EngineConfiguration) -> Replay {
    let tables = AppTables(for: [configuration], from: start)
    tables.add(view)
    let world = World(
      [view], for: configuration, tables: tables, startedCards: .numbered(after: 1_000_000))
    var replay = Replay(world, by: configuration, from: start)
    for step in steps {
      for change in step.changes { replay.add(change, at: step.at) }
    }
    return replay
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
      case .answers(let outcome, let until):
        "APNs: \(outcome.reason)" + (until.map { " until \(CivilTime.iso($0))" } ?? "")
      }
    }.joined(separator: ", ")
  }
}
