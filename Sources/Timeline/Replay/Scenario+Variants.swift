import Base
import RideCore

// The same ride under other circumstances.
extension Scenario {
  /// Whether an iPhone has a card, or one can be started.
  package var hasCards: Bool {
    !view.cards.isEmpty || !view.startTokens.isEmpty
      || steps.contains { $0.changes.contains(where: \.isAboutCard) }
  }

  /// Returns the scenario without cards of iPhones: their owners have turned them off.
  package func withoutCards() -> Scenario {
    var scenario = self
    scenario.view.cards = []
    scenario.view.startTokens = []
    for index in scenario.phones.indices { scenario.phones[index].cards = [] }
    for index in scenario.steps.indices {
      scenario.steps[index].changes.removeAll(where: \.isAboutCard)
    }
    scenario.steps.removeAll(where: \.changes.isEmpty)
    return scenario
  }

  /// Returns the scenario where its first hour is the one after 01:00; nil if it begins at night by
  /// itself, or has no ride.
  ///
  /// The place moves, and not the time: a story states times in attributes, which only its author could
  /// move.
  package func atNight() -> Scenario? {
    guard view.ride != nil, let zone = ZoneTimes(identifier: zoneName) else { return nil }
    let hour = LocalTime(start, in: zone).minute / 60
    if hour >= 22 || hour < 5 { return nil }
    let seconds = start.epochSeconds
    var offset = 1 - (seconds % 86_400) / 3_600
    if offset < -12 { offset += 24 }
    // POSIX counts westwards.
    let name = offset == 0 ? "Etc/GMT" : "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))"
    var scenario = self
    scenario.view.ride?.timeZone = name
    for index in scenario.view.phones.indices where view.phones[index].timeZone != nil {
      scenario.view.phones[index].timeZone = name
    }
    for step in scenario.steps.indices {
      for index in scenario.steps[step].changes.indices {
        scenario.steps[step].changes[index].move(to: name)
      }
    }
    return scenario
  }
}

extension Change {
  fileprivate var isAboutCard: Bool {
    switch self {
    case .card, .pushToStart: true
    default: false
    }
  }

  fileprivate mutating func move(to zone: String) {
    switch self {
    case .ride(var update):
      update.timeZone = nil
      self = .ride(update)
    case .phone(var phone) where phone.timeZone != nil:
      phone.timeZone = zone
      self = .phone(phone)
    default: break
    }
  }
}
