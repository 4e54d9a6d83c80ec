// Whom a rule concerns, if an event concerns several people or no ride.
extension Decider {
  func planner(
    _ rule: CompiledRule, _ context: TemplateContext, _ image: RideImage?
  ) -> Planner {
    let shown = image.map { self.context(context.event, as: $0) } ?? context
    return Planner(
      rule: rule, context: shown, image: image, configuration: configuration, now: now)
  }

  /// Returns whether the ledger records that a rule found no owner in an app.
  ///
  /// An event about no ride concerns one person: other apps of its rules are not meant.
  func concerns(_ rule: CompiledRule, _ app: App, _ context: TemplateContext) -> Bool {
    if decision.view.ride != nil { return true }
    let rules = configuration.rules.rules(on: context.event.name)
    return !rules.contains { rule in
      rule.apps.contains { !RecipientResolver.named($0, by: context).all.isEmpty }
    }
  }

  func noOwner(_ app: App, _ context: TemplateContext) -> LedgerReason {
    let isOfRide =
      decision.view.ride != nil && RecipientResolver.named(app, by: context) == .none
    return isOfRide ? .noOwner(of: app) : .namesNobody(of: app)
  }

  mutating func groupPhones() {
    if phonesOfPeople == nil { phonesOfPeople = Dictionary(grouping: phones) { PhoneOwner($0) } }
  }

  mutating func hasPhone(_ owner: OwnerID, _ app: App, _ isFurther: Bool) -> Bool {
    if isFurther { return count(of: PhoneOwner(app, owner)) > 0 }
    return decision.view.phones.contains { $0.app == app && $0.ownerID == owner }
  }
}
