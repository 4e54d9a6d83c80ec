// How a rule fires: for the people of its apps, and for each of their phones.

import Base
extension Decider {
  /// What the pushes of one firing have in common.
  struct Firing {
    let rule: CompiledRule
    let context: TemplateContext
    /// Why nothing leaves because of the ride's state; nil if the rule allows it.
    let leftStates: LedgerReason?
    /// When the rule fires that the event armed; nil if it fires now. What waits is decided then.
    let waitsUntil: Timestamp?

    /// Whether the firing is decided now.
    var isDecided: Bool { leftStates == nil && waitsUntil == nil }
  }

  /// Fires one rule on one event, for the people of each of its apps.
  mutating func fire(_ rule: CompiledRule, _ context: TemplateContext) {
    if isSilentUpdate(rule, context) { return }
    let firing = Firing(
      rule: rule, context: context, leftStates: rule.leftStates(context.ride.state),
      waitsUntil: awaitedFiring(of: context.event))
    if rule.condition != nil, firing.isDecided {
      keepMemory(of: rule, context.event, last: conditions[rule.name]?.last)
      var entry = draft(rule, context.event)
      entry.owner = recipients.recipients(of: rule.app, in: context).first?.owner
      if !isAdmitted(rule, context, entry, at: .event) { return }
    }
    let before = livePushes
    if rule.emittedEvent != nil {
      fireEmit(rule, draft(rule, context.event), context)
    } else {
      for app in rule.apps { fire(firing, app) }
    }
    if rule.condition != nil, firing.waitsUntil == nil, livePushes > before {
      remember(rule, context)
    }
  }

  /// Counts a change of the ride outside of a rule's `while`, of which the ledger has no row: most
  /// changes of most rides are.
  private mutating func isSilentUpdate(_ rule: CompiledRule, _ context: TemplateContext) -> Bool {
    guard context.event.name == "ride_updated", rule.leftStates(context.ride.state) != nil,
      awaitedFiring(of: context.event) == nil
    else { return false }
    if isFirstPart { decision.settlement.outsideStates[rule.name, default: 0] += 1 }
    return true
  }

  private mutating func fire(_ firing: Firing, _ app: App) {
    let (rule, context) = (firing.rule, firing.context)
    let people = recipients.recipients(of: app, in: context)
    guard let first = people.first else {
      if isFirstPart, concerns(rule, app, context) {
        close(draft(rule, context.event, app), .suppressed, noOwner(app, context))
      }
      return
    }
    var planner = planner(rule, context, first.image)
    fire(firing, &planner, app, first)
    if people.others.isEmpty { return }
    // Only the owner in the app's role may be a former one, to whom the former row is shown.
    if first.image != nil { planner = self.planner(rule, context, nil) }
    if phonesOfPeople == nil { phonesOfPeople = Dictionary(grouping: phones) { PhoneOwner($0) } }
    for person in people.others { fire(firing, &planner, app, person, isFurther: true) }
  }

  /// Fires for each phone of one person.
  ///
  /// - Parameter isFurther: Whether the event concerns others before this person.
  private mutating func fire(
    _ firing: Firing, _ planner: inout Planner, _ app: App,
    _ person: RecipientResolver.Recipient, isFurther: Bool = false
  ) {
    if firing.rule.post != nil { return firePost(firing, &planner, app, person) }
    let (rule, event, owner) = (firing.rule, firing.context.event, person.owner)
    if let newer = replacement(of: event, for: owner, in: app) {
      return closeReplaced(draft(rule, event, app, of: isFurther ? owner : nil), owner, by: newer)
    }
    var entry = draft(rule, event, app, of: isFurther ? owner : nil)
    entry.owner = owner
    if person.isParticipant { entry.isOfParticipant = true }
    if firing.isDecided, !isAdmitted(rule, firing.context, entry, at: .person) { return }
    var awaited: [PushID] = []
    var isUnseeable = false
    let candidates = isFurther ? phonesOfPeople?[PhoneOwner(app, owner)] ?? [] : phones
    for phone in candidates where phone.app == app && phone.ownerID == owner {
      entry.id = pushID(rule, event, phone.token, app)
      entry.phone = phone.id
      entry.tokenSuffix = String(phone.token.suffix(6))
      let decided = decision.items.count
      let mayBeSeen = fire(firing, &planner, entry, phone, person.image)
      if rule.escalation == nil { continue }
      if decision.items.dropFirst(decided).contains(where: \.isUnseeable) {
        isUnseeable = true
      } else if mayBeSeen {
        awaited.append(entry.id)
      }
    }
    let hasNoPhone = entry.phone == nil && isFirstPart && !hasPhone(owner, app, isFurther)
    if hasNoPhone { close(entry, .suppressed, .noPhone(of: app)) }
    if rule.escalation != nil,
      !awaited.isEmpty || isUnseeable || hasNoPhone && firing.leftStates == nil
    {
      openEscalation(rule, event, of: owner, in: app, awaiting: awaited, isUnseeable: isUnseeable)
    }
  }

  /// Fires for one phone; returns whether a receipt of it may follow.
  private mutating func fire(
    _ firing: Firing, _ planner: inout Planner, _ entry: LedgerEntry, _ phone: Phone,
    _ image: RideImage?
  ) -> Bool {
    let rule = firing.rule
    if let waitsUntil = firing.waitsUntil {
      var entry = entry
      planner.setCollapseID(of: &entry)
      wait(entry, .until(waitsUntil), .waiting(until: waitsUntil), image: image)
      return true
    }
    if firing.leftStates == nil, !isAdmitted(rule, firing.context, entry, at: .phone, phone) {
      return false
    }
    if let reason = firing.leftStates ?? optOut(of: phone.ownerID, in: phone.app, from: rule) {
      block(entry, reason)
      return false
    }
    let decided = decision.items.count
    let cards = cards(showing: entry.event, on: phone, insteadOf: rule)
    let starts = cards.isEmpty && rule.withCard == .skip ? starts(on: phone) : []
    if cards.isEmpty, starts.isEmpty {
      plan(&planner, entry, phone)
    } else {
      var entry = entry
      planner.setCollapseID(of: &entry)
      cover(entry, Cover(cards: cards, starts: starts, isSkipped: rule.withCard == .skip))
    }
    return !decision.items.dropFirst(decided).contains { $0.fate == .blocked }
  }

  /// Returns the template context of an event for one person.
  mutating func context(
    _ event: RideEvent, for owner: OwnerID, in app: App
  ) -> TemplateContext? {
    context(event)?.addressed(to: owner, in: app)
  }

  /// Returns the planner of a rule's pushes, whose texts show a former row if there is an image of it.
  func planner(
    _ rule: CompiledRule, _ context: TemplateContext, _ image: RideImage?
  ) -> Planner {
    let shown = image.map { self.context(context.event, as: $0) } ?? context
    return Planner(
      rule: rule, context: shown, image: image, configuration: configuration, now: now)
  }

  /// Returns the template context of a push to a former owner: the row as it was for that owner.
  ///
  /// Of the states, it has those that were entered up to the event: later ones concern another person.
  func context(_ event: RideEvent, as image: RideImage) -> TemplateContext {
    var ride = image.ride(decision.view.rideID)
    ride.entered = decision.view.ride?.entered.filter { $0.value <= event.at } ?? [:]
    return TemplateContext(
      ride: ride,
      attributes: JSONValue(json: image.attributes.utf8), event: event, now: now,
      defaultZone: configuration.rules.defaults.zone)
  }

  /// Returns whether the ledger records that a rule found no owner in an app.
  ///
  /// An event about no ride concerns one person: other apps of its rules are not meant.
  private func concerns(_ rule: CompiledRule, _ app: App, _ context: TemplateContext) -> Bool {
    if decision.view.ride != nil { return true }
    let rules = configuration.rules.rules(on: context.event.name)
    return !rules.contains { rule in
      rule.apps.contains { !RecipientResolver.named($0, by: context).all.isEmpty }
    }
  }

  private func noOwner(_ app: App, _ context: TemplateContext) -> LedgerReason {
    let isOfRide =
      decision.view.ride != nil && RecipientResolver.named(app, by: context) == .none
    return isOfRide ? .noOwner(of: app) : .namesNoOwner(of: app)
  }

  private mutating func hasPhone(_ owner: OwnerID, _ app: App, _ isFurther: Bool) -> Bool {
    if isFurther { return count(of: PhoneOwner(app, owner)).all > 0 }
    return decision.view.phones.contains { $0.app == app && $0.ownerID == owner }
  }
}
