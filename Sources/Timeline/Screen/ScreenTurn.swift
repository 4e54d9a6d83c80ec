package import Base

/// Something that changes a phone's screen though nothing is sent.
package struct ScreenTurn: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case leaves = "no network"
    case returns = "the network is back"
    case focusBegins = "a Focus begins"
    case focusEnds = "the Focus ends"
    case stale = "a card is stale"
    case gone = "a card leaves the screen"
  }

  package var at: Timestamp
  package var kind: Kind
}

extension ScreenFeed {
  /// Returns the turns of a phone's screen before an instant, in the order of time.
  package func turns(of phone: ScenarioPhone, before end: Timestamp) -> [ScreenTurn] {
    var turns = phone.changes.filter { $0.at < end }.map { ScreenTurn(at: $0.at, kind: $0.turn) }
    var run = self.run(phone)
    var cards: [ScreenCard] = []
    while let at = run.next, at < end {
      let screen = run.screen(at: at)
      run.forgetOutcomes()
      if screen.isOnline, screen.cards.contains(where: { $0.isStale(at: at) && $0.staleAt == at }) {
        turns.append(ScreenTurn(at: at, kind: .stale))
      }
      if cards.contains(where: { $0.goneAt == at }), screen.cards.count < cards.count {
        turns.append(ScreenTurn(at: at, kind: .gone))
      }
      cards = screen.cards
    }
    return turns.sorted { $0.at < $1.at }
  }
}

extension ScenarioPhone.Change {
  fileprivate var turn: ScreenTurn.Kind {
    switch kind {
    case .leaves: .leaves
    case .returns: .returns
    case .focus(let isOn): isOn ? .focusBegins : .focusEnds
    }
  }
}

extension ScenarioPhone {
  /// Returns the phone with one more time without a network.
  package func away(_ hole: Range<Timestamp>) -> ScenarioPhone {
    var phone = self
    phone.away = (away + [hole]).sorted { $0.lowerBound < $1.lowerBound }
      .reduce(into: []) { ranges, range in
        if let last = ranges.last, range.lowerBound <= last.upperBound {
          let end = max(last.upperBound, range.upperBound)
          ranges[ranges.count - 1] = last.lowerBound..<end
        } else {
          ranges.append(range)
        }
      }
    return phone
  }
}
