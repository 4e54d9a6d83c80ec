import Base

/// Takes one phone's screen through time.
struct ScreenRun {
  /// What reaches a phone, or happens on it because of an app.
  enum Happening: Sendable {
    case push(ScreenPush)
    /// The app starts its card by itself.
    case startsCard(String)
    /// The person removes a card.
    case removesCard(String)
  }

  struct Step: Sendable {
    var at: Timestamp
    var happening: Happening
  }

  private var screen: Screen
  private var changes: ArraySlice<ScenarioPhone.Change>
  private var steps: ArraySlice<Step>

  /// - Parameter steps: What reaches the phone, in the order of time.
  init(_ phone: ScenarioPhone, _ steps: [Step]) {
    screen = Screen(phone.platform, at: phone.start)
    for card in phone.cards { screen.startCard(card, at: phone.start) }
    changes = phone.changes[...]
    self.steps = steps[...]
  }

  /// Returns the screen as it is at some time, which is not before the last one.
  mutating func screen(at instant: Timestamp) -> Screen {
    while let step = steps.first, step.at <= instant {
      // What changes at the same time comes first.
      applyChanges(until: step.at)
      apply(step.happening, at: step.at)
      steps.removeFirst()
    }
    applyChanges(until: instant)
    screen.advance(to: instant)
    return screen
  }

  /// When the screen may change next; nil if it stays as it is.
  var next: Timestamp? {
    let own = screen.cards.flatMap(\.changes).filter { $0 > screen.now }
    return ([steps.first?.at, changes.first?.at].compactMap(\.self) + own).min()
  }

  /// Lets the next screens tell only what happens from here on.
  mutating func forgetOutcomes() { screen.forgetOutcomes() }

  private mutating func applyChanges(until instant: Timestamp) {
    while let change = changes.first, change.at <= instant {
      change.apply(to: &screen)
      changes.removeFirst()
    }
  }

  private mutating func apply(_ happening: Happening, at instant: Timestamp) {
    switch happening {
    case .push(let push): screen.receive(push, at: instant)
    case .startsCard(let name): screen.startCard(name, at: instant)
    case .removesCard(let name): screen.removeCard(name, at: instant)
    }
  }
}
