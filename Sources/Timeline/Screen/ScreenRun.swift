import Base

/// Takes one phone's screen through time.
struct ScreenRun {
  private var screen: Screen
  private var changes: ArraySlice<ScenarioPhone.Change>
  private var departures: ArraySlice<Departure>

  /// - Parameter departures: What leaves for the phone, in the order of time.
  init(_ phone: ScenarioPhone, _ departures: [Departure]) {
    screen = Screen(phone.platform, at: phone.start)
    for card in phone.cards { screen.startCard(card, at: phone.start) }
    changes = phone.changes[...]
    self.departures = departures[...]
  }

  /// Returns the screen as it is at some time, which is not before the last one.
  mutating func screen(at instant: Timestamp) -> Screen {
    while let departure = departures.first, departure.at <= instant {
      // What changes at the same time comes first.
      applyChanges(until: departure.at)
      screen.receive(departure.push, at: departure.at)
      departures.removeFirst()
    }
    applyChanges(until: instant)
    screen.advance(to: instant)
    return screen
  }

  private mutating func applyChanges(until instant: Timestamp) {
    while let change = changes.first, change.at <= instant {
      change.apply(to: &screen)
      changes.removeFirst()
    }
  }
}
