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
    let own = phone.changes.map { ScreenTurn(at: $0.at, kind: $0.turn) }
    let instants = (own.map(\.at) + pushes(to: phone.id).map(\.at)).sorted()
    let stated = screens(of: phone, at: instants).flatMap { screen in
      screen.cards.flatMap { [$0.isEnded ? nil : $0.staleAt, $0.goneAt] }.compactMap { $0 }
    }
    // A later push often comes before: only what has really happened by then counts.
    let turns = Set(stated.filter { $0 < end }).sorted()
    let screens = screens(of: phone, at: turns.flatMap { [$0 - .microseconds(1), $0] })
    let happened = turns.indices.flatMap { index -> [ScreenTurn] in
      let (before, after) = (screens[2 * index], screens[2 * index + 1])
      let at = turns[index]
      var kinds: [ScreenTurn.Kind] = []
      if after.isOnline, after.cards.contains(where: { $0.isStale(at: at) && $0.staleAt == at }) {
        kinds.append(.stale)
      }
      if before.cards.count > after.cards.count { kinds.append(.gone) }
      return kinds.map { ScreenTurn(at: at, kind: $0) }
    }
    return (own.filter { $0.at < end } + happened).sorted { $0.at < $1.at }
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
