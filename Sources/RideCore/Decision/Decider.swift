package import Base
import CEL

/// Decides what one ride needs now.
///
/// A pure function: equal views, configurations and times give equal decisions. The service sends
/// the planned pushes; a dry run prints them.
package func decide(_ view: RideView, by configuration: EngineConfiguration, now: Timestamp)
  -> Decision
{
  var decider = Decider(view: view, configuration: configuration, now: now)
  decider.run()
  return decider.take()
}

/// The state of one call of `decide`. It is never copied: it holds the ride's view, whose copy costs as
/// much as a rule that does not fire.
struct Decider: ~Copyable {
  let configuration: EngineConfiguration
  let now: Timestamp
  /// The ride's attributes, parsed once for all events and rules.
  let attributes: JSONValue?
  /// The events that this decision handles.
  let events: [RideEvent]
  /// The events that cards and schedules have not processed yet; empty in the later parts of a
  /// split pass.
  let newEvents: [RideEvent]
  let recipients: RecipientResolver
  /// The ride whose values decisions show: the row, or a pseudo ride's stand-in without values.
  let ride: Ride?
  /// The last context: thousands of pushes may wait for one event, whose data is parsed once.
  private var lastContext: TemplateContext?
  /// The phones that this decision addresses.
  var phones: [Phone] = []
  var decision: Decision
  /// Cards that are sent nothing now, which can't show an alert either.
  var suppressedCards: Set<CardTarget> = []
  /// How many items reach people without being sent now: later, or by a card.
  var liveItems = 0
  /// When the oldest push that waits for each recipient is tried: newer ones queue behind it.
  var queues: [LedgerEntry.Recipient: Timestamp] = [:]
  /// The number of phones of each owner, counted once if cards need it.
  var phoneCounts: [PhoneOwner: PhoneCount]?
  /// Whether some of the ride's phones may show a card without an app's registration of it.
  let hasAndroid: Bool
  /// What Android phones show, by rule and by what it reads of them.
  var androidContents: [AndroidContentKey: RenderedCard] = [:]
  /// The contexts of cards on Android phones: each phone needs several, whose data is parsed once.
  var androidContexts: [TemplateContext] = []
  /// What the conditions of this decision may still cost.
  var work = CELWork()
  /// What is kept of each rule's `if`.
  var conditions: [String: ConditionMemo]
  /// The firings that `if` blocks, and what rules remember, in this decision.
  var blocked: [RuleFiring] = []
  /// The rules of whose `if` some person or phone has had an error in this decision: that it holds or
  /// is false for the next one does not mean that the error is over.
  var complaining: Set<String> = []
  /// Those that it blocked in the first part of a split pass.
  let formerlyBlocked: Set<RuleFiring>
  var remembered: [String: String] = [:]
  /// `phones` by owner, grouped once if an event concerns several people.
  var phonesOfPeople: [PhoneOwner: [Phone]]?

  init(view: consuming RideView, configuration: EngineConfiguration, now: Timestamp) {
    self.configuration = configuration
    self.now = now
    let ride = view.ride ?? view.pseudoRide
    self.ride = ride
    attributes =
      switch ride?.attributes {
      case "{}": .object([:])
      case let text?: JSONValue(json: text.utf8)
      case nil: nil
      }
    let part = view.memo.part
    events = part.map { part in view.events.filter(part.includes) } ?? view.events
    newEvents = part == nil ? view.events : []
    recipients = RecipientResolver(view.events)
    conditions = view.memo.conditions
    formerlyBlocked = Set(part?.blocked ?? [])
    hasAndroid =
      !configuration.rules.cards.isEmpty && view.phones.contains { $0.platform == .android }
    let isActive = view.ride?.state.map(configuration.rules.activeStates.contains) ?? false
    let settlement = Settlement(rideID: view.rideID, revision: configuration.revision?.id)
    let (fired, emitTally) = (view.memo.fired, view.memo.emitTally)
    // The view is moved, and `self` is complete with its last statement: neither is copied.
    decision = Decision(
      view: view, settlement: settlement, fired: fired, emitTally: emitTally, isActive: isActive)
  }

  /// Moves the decision out: returning the field would copy all of it.
  mutating func take() -> Decision {
    var taken = Decision(
      view: RideView(rideID: "", ride: nil), settlement: Settlement(rideID: ""), isActive: false)
    swap(&taken, &decision)
    return taken
  }

  /// Decides in five passes; each needs what those before it have decided.
  mutating func run() {
    // What cards show comes first: an alert is left to a card that shows it.
    evaluateCards()
    fireRules()
    // What waited is decided after what is new, because a new push takes an older one along, or
    // replaces it.
    decideWaiting()
    order()
    // A push and its escalation may fall due together: whether there is anything to see is known now.
    followEscalations()
    doubt()
    keepConditions()
  }

  /// Fires the rules of new events, and of slots that are due.
  private mutating func fireRules() {
    let slots = dueSlots()
    selectPhones(slots)
    updateAndroidCards()
    for event in events {
      if let source = RawPush.Source(of: event, in: decision.view.rideID) {
        evaluateRawPush(event, from: source)
        continue
      }
      let rules = configuration.rules.rules(on: event.name)
      if rules.isEmpty {
        if isFirstPart { reportUnknownWord(event) }
        continue
      }
      guard context(event) != nil else {
        for rule in rules where isFirstPart {
          close(draft(rule, event), .suppressed, .rideNotFound)
        }
        continue
      }
      for rule in rules { fire(rule, on: event) }
    }
    for (rule, slot) in slots {
      if let context = context(event(of: rule, at: slot)) { fire(rule.rule, context) }
    }
  }

  var isFirstPart: Bool { decision.view.memo.part == nil }

  /// Selects the phones of this part.
  ///
  /// Events are consumed only by the last part, when all phones have been addressed.
  private mutating func selectPhones(_ slots: [(rule: TimedRule, at: Timestamp)]) {
    // The card of an Android phone is one more push to it.
    let firings = events.reduce(slots.count + (hasAndroid ? 1 : 0)) { count, event in
      count + max(1, configuration.rules.rules(on: event.name).count)
    }
    let (selected, isLast) = decision.view.phones(forFirings: firings)
    phones = selected
    if isLast {
      decision.settlement.consumed = events.map(\.key)
    } else if let last = selected.last {
      let open = decision.view.memo.part
      decision.settlement.memo.part = OpenPart(
        through: open?.through ?? events.last?.id ?? 0,
        throughTime: open == nil ? events.map(\.at).max() : open?.throughTime,
        startedAt: open?.startedAt ?? now, after: last.id,
        slots: slots.map { OpenPart.Slot(rule: $0.rule.key, at: $0.at) },
        shown: open?.shown ?? [:])
      // A holder that lost a later part had the same events in it, and with the same rules the same
      // phones.
      decision.settlement.memo.part?.isTakenOver =
        open == nil ? (decision.view.mayHaveBeenSent ? true : nil) : open?.isTakenOver
    }
    rememberTakeover()
  }

  /// Remembers a takeover until no event is left that the previous holder may have read.
  ///
  /// Every holder reads the first events of the ride by ID. An event that commits late, with a lower
  /// ID, pushes a later one out of the next read.
  private mutating func rememberTakeover() {
    // A holder that lost a later part had the events of the pass.
    let isTakenOver =
      isFirstPart ? decision.view.mayHaveBeenSent : decision.view.memo.isTakenOver
    let isAnyLeft =
      decision.view.hasMoreEvents || decision.view.events.count > events.count
      || !isFirstPart && decision.settlement.memo.part != nil
    decision.settlement.memo.isTakenOver = isTakenOver && isAnyLeft
  }

  /// Returns the slots at which rules fire now, and closes the slots that were passed over.
  private mutating func dueSlots() -> [(rule: TimedRule, at: Timestamp)] {
    if decision.view.ride == nil { return [] }
    if let part = decision.view.memo.part {
      decision.settlement.memo.slots = decision.view.memo.slots
      return part.slots.compactMap { slot in
        configuration.rules.timed.rule(key: slot.rule).map { ($0, slot.at) }
      }
    }
    var slots: [(rule: TimedRule, at: Timestamp)] = []
    let rules = configuration.rules
    for rule in rules.timed.concerning(decision.view) {
      var machine = ScheduleEvaluator(rule, of: decision.view, attributes: attributes, now: now)
      machine.run(decision.view, isState: rules.isState)
      // Two times that are the same instant are one firing.
      slots += machine.due.filter { slot in
        !slots.contains { $0.at == slot && $0.rule.name == rule.name }
      }.map { (rule, $0) }
      for (slot, reason) in machine.skipped {
        close(draft(rule.rule, event(of: rule, at: slot)), .suppressed, reason)
      }
      if machine.tally.due > 0 {
        decision.settlement.tallies[rule.name, default: SlotTally()] += machine.tally
      }
      // A ride that is over keeps a rule's memo only while a slot is still to come.
      if let memo = machine.memo, decision.isActive || machine.next != nil {
        decision.settlement.memo.slots[rule.key] = memo
      }
      if let next = machine.next { decision.nextSlot = min(decision.nextSlot ?? next, next) }
    }
    return slots
  }

  private func event(of rule: TimedRule, at slot: Timestamp) -> RideEvent {
    RideEvent(id: 0, name: rule.timing.keyword, at: slot)
  }

  /// Records an event that no rule file declares, instead of passing over it.
  private mutating func reportUnknownWord(_ event: RideEvent) {
    let state = decision.view.ride?.state
    guard let reason = configuration.rules.unknownWord(of: event, state: state) else { return }
    let id = PushID(of: "unknown", String(event.id), decision.view.rideID.text, event.name)
    let entry = LedgerEntry(
      id: id, event: event, rule: "", app: App(rawValue: ""), pushType: .alert, status: .pending,
      attempts: 0)
    close(entry, .suppressed, reason)
  }

  /// Ends something that is not sent.
  mutating func close(
    _ entry: LedgerEntry, _ status: LedgerEntry.Status, _ reason: LedgerReason
  ) {
    var entry = entry
    if decision.view.mayHaveBeenSent, status == .expired || status == .superseded {
      entry.doubtPreviousHolder()
    }
    entry.end(status, reason)
    decision.items.append(Decision.Item(entry: entry, fate: .ended))
  }

  /// Ends something that is kept from its owner on purpose; no escalation follows.
  mutating func block(_ entry: LedgerEntry, _ reason: LedgerReason) {
    var entry = entry
    entry.end(.suppressed, reason)
    // One that may have left before can have been seen.
    let isBlocked = entry.status == .suppressed
    decision.items.append(Decision.Item(entry: entry, fate: isBlocked ? .blocked : .ended))
  }

  /// Leaves something for a later decision; its ledger row shows the reason.
  mutating func wait(
    _ entry: LedgerEntry, _ wait: Wait, _ reason: LedgerReason, image: RideImage? = nil
  ) {
    var entry = entry
    entry.status = .pending
    entry.reason = entry.kind == .post ? reason.ofPost : reason
    liveItems += 1
    decision.items.append(
      Decision.Item(entry: entry, fate: .waits(wait, image: image, isNew: true)))
  }

  /// Leaves a waiting item for a later decision as it is.
  mutating func keep(_ item: WaitingItem) {
    decision.items.append(
      Decision.Item(entry: item.entry, fate: .waits(item.wait, image: item.image, isNew: false)))
  }

  /// Returns the template context of an event; nil if the ride does not exist.
  mutating func context(_ event: RideEvent) -> TemplateContext? {
    if let lastContext, lastContext.event == event { return lastContext }
    lastContext = ride.map {
      TemplateContext(
        ride: $0, attributes: attributes, event: event, now: now,
        hasRide: decision.view.ride != nil, defaultZone: configuration.rules.defaults.zone)
    }
    return lastContext
  }
}
