package import Base
package import RideCore

/// The replay of a scenario, with what an app does by itself: it registers the cards that pushes start.
package struct ScenarioReplay: Sendable {
  private var replay: RideReplay
  private let scenario: Scenario
  /// All cards that were registered so far.
  private var cards: [Card]
  private var nextCard: Int64 = 1_000_000

  package init(_ scenario: Scenario, by configuration: EngineConfiguration) {
    self.scenario = scenario
    cards = scenario.view.cards
    replay = scenario.replay(by: configuration)
  }

  /// Returns the next decision before an instant; nil if there is none.
  package mutating func step(before end: Timestamp) -> RideReplay.Step? {
    guard let step = replay.step(before: end) else { return nil }
    for entry in step.settlement.entries { register(entry, step.now) }
    return step
  }

  /// Registers a card that a push started, as the app does when iOS has shown it.
  private mutating func register(_ entry: LedgerEntry, _ now: Timestamp) {
    guard entry.status == .accepted, let id = entry.startToken,
      let token = scenario.view.startTokens.first(where: { $0.id == id })
    else { return }
    nextCard += 1
    let card = Card(
      startedBy: token, id: nextCard, token: PushID(of: "story card", "\(nextCard)"),
      at: now + .seconds(1))
    cards.append(card)
    replay.add(.card(card), to: 0, at: now + .seconds(1))
  }

  /// Returns the locale of the phone that a push is for; of a card's push, that of its phone.
  package func locale(of entry: LedgerEntry) -> String? {
    let phones = scenario.view.phones
    if let id = entry.phone { return phones.first { $0.id == id }?.locale }
    let installation = installation(of: entry)
    let own = phones.filter {
      $0.app == entry.app && (entry.owner == nil || $0.ownerID == entry.owner)
    }
    let phone = own.first { installation != nil && $0.installationID == installation }
    return (phone ?? own.first)?.locale
  }

  private func installation(of entry: LedgerEntry) -> InstallationID? {
    if let id = entry.startToken {
      return scenario.view.startTokens.first { $0.id == id }?.installationID
    }
    return entry.card.flatMap { target in cards.first { $0.target == target }?.installationID }
  }
}

extension Card {
  /// Creates the card that the app registers after a push with a start token has started it.
  init(startedBy start: StartToken, id: Int64, token: PushID, at now: Timestamp) {
    self.init(
      .activity(id), app: start.app, ownerID: start.ownerID,
      token: token.description.replacing("-", with: ""), environment: start.environment,
      registeredAt: now)
    installationID = start.installationID
  }
}
