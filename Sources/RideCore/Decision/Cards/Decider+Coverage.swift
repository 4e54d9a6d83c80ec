// Which alerts cards show in the place of ordinary ones.
extension Decider {
  /// Returns the cards on a phone that show an event's alert, so that the rule's own is not sent.
  ///
  /// A card that is sent nothing now leaves the alert to the rule and does not show it later.
  mutating func cards(
    showing event: RideEvent, on phone: Phone, insteadOf rule: CompiledRule
  ) -> [CardTarget] {
    guard rule.pushType == .alert, rule.withCard != .send, !decision.settlement.memo.cards.isEmpty
    else { return [] }
    if rule.withCard == .skip { return cards(on: phone) }
    if phone.platform == .android {
      let card = CardTarget.phone(phone.id)
      return hasAndroidCard(phone) && isShowing(card, event) ? [card] : []
    }
    var covering: [CardTarget] = []
    for card in decision.view.cards where isShown(card, on: phone) {
      if isShowing(card.target, event) { covering.append(card.target) }
    }
    return covering
  }

  /// Returns whether a card shows an event's alert, now or in an earlier part of this pass.
  private mutating func isShowing(_ card: CardTarget, _ event: RideEvent) -> Bool {
    if hasShown(card, event) { return true }
    if decision.settlement.memo.cards[card]?.alert != event { return false }
    if !suppressedCards.contains(card) { return true }
    decision.settlement.memo.cards[card]?.alert = nil
    return false
  }

  /// Returns whether an Android phone has a card of its app that was not dismissed and has not ended.
  private func hasAndroidCard(_ phone: Phone) -> Bool {
    let android = decision.settlement.memo.cards[.phone(phone.id)]?.android
    return android?.app == phone.app && android?.isOver == false
  }

  /// Returns the cards on a phone that show the ride's present state.
  private mutating func cards(on phone: Phone) -> [CardTarget] {
    if phone.platform == .android {
      let card = CardTarget.phone(phone.id)
      return hasAndroidCard(phone) && isCurrent(card) ? [card] : []
    }
    var shown: [CardTarget] = []
    for card in decision.view.cards where isCurrent(card.target) {
      if isShown(card, on: phone) { shown.append(card.target) }
    }
    return shown
  }

  /// Returns whether a card is sent its state now, or shows what it was sent last.
  private func isCurrent(_ card: CardTarget) -> Bool {
    guard let memo = decision.settlement.memo.cards[card] else { return false }
    if !suppressedCards.contains(card) { return true }
    return memo.shown != nil && !memo.isPending && !memo.isRefused && memo.complaint == nil
  }

  /// Returns the pushes that start a card on a phone now, each of which shows an alert of its own.
  mutating func starts(on phone: Phone) -> [Int64] {
    let started = Set(decision.pushes.compactMap(\.entry.startToken))
    if started.isEmpty || phone.platform == .android { return [] }
    var found: [Int64] = []
    for token in decision.view.startTokens
    where started.contains(token.id) && token.app == phone.app && token.ownerID == phone.ownerID {
      if isInstalled(token.installationID, on: phone) { found.append(token.id) }
    }
    return found
  }

  /// Returns whether a pending alert is still left to a card of its phone.
  mutating func isLeftToCard(_ entry: LedgerEntry, _ phones: [Int64: Phone]) -> Bool {
    guard let rule = configuration.rules.rule(named: entry.rule),
      let phone = entry.phone.flatMap({ phones[$0] })
    else { return false }
    return !cards(showing: entry.event, on: phone, insteadOf: rule).isEmpty
  }

  /// Leaves an alert to cards, until the pushes to them have an outcome.
  mutating func cover(_ entry: LedgerEntry, _ cover: Cover) {
    if let pause = pause(of: entry) {
      return wait(entry, of: configuration.rules.rule(named: entry.rule), for: pause)
    }
    var entry = entry
    entry.status = .suppressed
    entry.reason = .coveredByCard
    let isShown: Bool
    if cover.isSkipped {
      // A card that turns out to be gone takes no one's place; one that is sent nothing is there.
      let isTried = decision.pushes.contains { push in
        push.step.map { cover.cards.contains($0.card) } ?? false
      }
      isShown = !isTried && cover.starts.isEmpty
      // Nothing is sent that would show it.
      if isShown { entry.reason = .skippedForCard }
    } else {
      isShown = cover.cards.contains { hasShown($0, entry.event) }
    }
    liveItems += 1
    decision.items.append(
      Decision.Item(entry: entry, fate: isShown ? .blocked : .covered(cover)))
  }

  /// Returns whether a card showed the alert in an earlier part of this pass.
  private func hasShown(_ card: CardTarget, _ event: RideEvent) -> Bool {
    decision.view.memo.part?.shown[card.rawValue]?.contains(event.id) == true
  }

  /// Returns whether a card is on this phone.
  private mutating func isShown(_ card: Card, on phone: Phone) -> Bool {
    guard card.app == phone.app, card.ownerID == phone.ownerID, !card.isGone,
      !card.target.isPhone
    else { return false }
    return isInstalled(card.installationID, on: phone)
  }

  /// Returns whether what its owner has registered is on this phone: by the installation, or because
  /// the owner has no other iPhone with the app.
  private mutating func isInstalled(_ installation: InstallationID?, on phone: Phone) -> Bool {
    if let installation, let own = phone.installationID { return installation == own }
    // Later parts of a pass don't read the phones of earlier ones.
    return isFirstPart && count(of: PhoneOwner(phone)).iPhones == 1
  }

  /// Returns the number of phones that a person has in an app, of those that were read.
  mutating func count(of owner: PhoneOwner) -> PhoneCount {
    let counts =
      phoneCounts
      ?? decision.view.phones.reduce(into: [:]) { counts, phone in
        counts[PhoneOwner(phone), default: PhoneCount()].add(phone)
      }
    phoneCounts = counts
    return counts[owner] ?? PhoneCount()
  }
}

/// The phones of one person: a card that names no installation may be on any of the iPhones.
struct PhoneCount {
  private(set) var iPhones = 0
  private(set) var androids = 0

  var all: Int { iPhones + androids }

  mutating func add(_ phone: Phone) {
    switch phone.platform {
    case .ios: iPhones += 1
    case .android: androids += 1
    }
  }
}
