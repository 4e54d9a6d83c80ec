package import Base
package import RideCore

/// A phone of a scenario, and what happens to it: when it is away, and when a Focus is on.
package struct ScenarioPhone: Hashable, Sendable {
  /// What a test calls it; nil if it has no name.
  package var name: String?
  /// `Phone.id`
  package var id: Int64
  package var platform: Platform
  /// When the scenario begins.
  package var start: Timestamp
  /// The cards that its app has started by then.
  package var cards: [String] = []
  /// In the order of time, none within another; it is off from the lower bound on, and back at the
  /// upper one.
  package var away: [Range<Timestamp>] = []
  package var focus: [Range<Timestamp>] = []

  package init(name: String?, id: Int64, platform: Platform, start: Timestamp) {
    self.name = name
    self.id = id
    self.platform = platform
    self.start = start
  }
}

extension ScenarioPhone {
  /// Something that changes what the phone receives, or how it shows it.
  struct Change {
    enum Kind { case leaves, returns, focus(Bool) }

    var at: Timestamp
    var kind: Kind

    func apply(to screen: inout Screen) {
      switch kind {
      case .leaves: screen.goOffline(at: at)
      case .returns: screen.goOnline(at: at)
      case .focus(let isOn): screen.setFocus(isOn, at: at)
      }
    }
  }

  /// What happens to it, in the order of time.
  var changes: [Change] {
    func changes(
      _ ranges: [Range<Timestamp>], _ begins: Change.Kind, _ ends: Change.Kind
    ) -> [Change] {
      ranges.flatMap {
        [Change(at: $0.lowerBound, kind: begins), Change(at: $0.upperBound, kind: ends)]
      }
    }
    // A Focus that begins when the phone is back is on before what waited arrives.
    return (changes(focus, .focus(true), .focus(false)) + changes(away, .leaves, .returns))
      .enumerated()
      .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }
}

extension Scenario {
  /// Adds a card that an app has started, to the ride and to the phone that shows it.
  package mutating func add(_ card: Card) {
    view.cards.append(card)
    show(card)
  }

  /// Adds a phone that has no name and is never away.
  mutating func add(_ phone: Phone) {
    view.phones.append(phone)
    phones.append(ScenarioPhone(name: nil, id: phone.id, platform: phone.platform, start: start))
  }

  /// Shows the cards on phones that were added after them.
  mutating func showCards() {
    for index in phones.indices { phones[index].cards = [] }
    for card in view.cards { show(card) }
  }

  private mutating func show(_ card: Card) {
    guard let id = view.iPhone(of: card.ownerID, in: card.app, with: card.installationID)?.id,
      let index = phones.firstIndex(where: { $0.id == id })
    else { return }
    phones[index].cards.append(view.rideID.text)
  }
}
