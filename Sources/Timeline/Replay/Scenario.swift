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

  /// Returns a replay of it; the ride has the place 0.
  package func replay(by configuration: EngineConfiguration) -> RideReplay {
    var replay = RideReplay([view], by: configuration, from: start)
    for step in steps {
      for change in step.changes { replay.add(change, to: 0, at: step.at) }
    }
    return replay
  }
}

/// What happens to a ride at one time.
package struct ScenarioStep: Hashable, Sendable {
  package var at: Timestamp
  package var changes: [RideChange]

  package init(at: Timestamp, _ changes: [RideChange]) {
    self.at = at
    self.changes = changes
  }

  /// What it is, for people, such as `driver_arrived` or `contact of driver`.
  package var title: String {
    changes.map { change in
      switch change {
      case .row(let columns): Self.title(columns)
      case .event(let name, _): name
      case .contact(let app, _, _): "contact of \(app)"
      case .seen(let rule, _): "the push of \(rule) is seen"
      case .card(let card): "a card of \(card.app) is registered"
      case .answer(let outcome, let until):
        "APNs: \(outcome.reason)" + (until.map { " until \(CivilTime.iso($0))" } ?? "")
      }
    }.joined(separator: ", ")
  }

  private static func title(_ columns: [RideColumn]) -> String {
    let states = columns.compactMap { column in
      if case .state(let state) = column { state } else { nil }
    }
    return states.last ?? "ride_updated"
  }
}
