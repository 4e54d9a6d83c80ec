package import Base

/// What one decision passes to the next for the same ride, stored in its agenda row.
package struct Memo: Hashable, Sendable {
  /// What waits: pushes, events to emit and escalations.
  package var waiting: [WaitingItem] = []
  /// How far each schedule rule has progressed, by `TimedRule.key`.
  package var slots: [String: SlotMemo] = [:]
  /// The state of the ride's cards.
  package var cards: [CardTarget: CardMemo] = [:]
  /// Card starts by push, by `StartToken.id`.
  package var starts: [Int64: StartMemo] = [:]
  /// What runs of cards on Android phones, by `App.rawValue`.
  package var runs: [String: CardRun] = [:]
  /// Start events whose cards are still to be started, by rule name: before `from`, while the card
  /// before has not ended yet, or while `if` about the ride does not hold.
  package var awaitedStarts: [String: RideEvent] = [:]
  /// Raw pushes that were journalled, must not repeat, and have no recorded outcome.
  package var unrepeatable: [PushID] = []
  /// What is kept of each rule's `if`, by rule name.
  package var conditions: [String: ConditionMemo] = [:]
  /// What the rules of waiting pushes remembered when they fired, by `RuleFiring.key`: `if` is decided
  /// by it again when they leave.
  package var fired: [String: String] = [:]
  /// The events that the ride's rules emitted lately; nil if they emitted none.
  package var emitTally: EmitTally?
  /// The traces of events that something waits about.
  package var traces: [EventTrace] = []

  /// The rest of a pass that was split into parts.
  package var part: OpenPart?
  /// Whether the ride was taken over with more events than one claim reads: its previous holder may
  /// have read some of those that are left.
  package var isTakenOver = false

  package init() {}

  /// Whether there is nothing to keep.
  package var isEmpty: Bool {
    waiting.isEmpty && slots.isEmpty && cards.isEmpty && starts.isEmpty && unrepeatable.isEmpty
      && part == nil && conditions.isEmpty && fired.isEmpty && emitTally == nil
      && awaitedStarts.isEmpty && runs.isEmpty && traces.isEmpty && !isTakenOver
  }
}

extension Memo {
  /// The Android phones that may show the ride's card: a former owner's, too.
  package var phonesWithCards: [Int64] {
    cards.compactMap { target, card in
      guard case .phone(let id) = target, card.android?.isOver == false else { return nil }
      return id
    }
  }
}

/// How far one schedule rule has progressed for one ride.
package struct SlotMemo: Hashable, Sendable {
  /// When the ride entered the rule's states; nil while it is in others.
  package var anchor: Timestamp?
  /// The time up to which every slot is accounted for.
  package var through: Timestamp
  /// The slot that follows from a time of the ride, as of the last decision.
  package var planned: Timestamp?
  /// The last such slot at which the rule fired.
  package var fired: Timestamp?
  /// When the ride last changed, for `lost-after`.
  package var changed: Timestamp?
  /// Whether the ledger has a row about that time of the ride being unreadable.
  package var isUnreadable = false

  package init(
    anchor: Timestamp?, through: Timestamp, planned: Timestamp?, fired: Timestamp?
  ) {
    self.anchor = anchor
    self.through = through
    self.planned = planned
    self.fired = fired
  }
}

/// What is kept of one rule's `if` from one decision about a ride to the next.
package struct ConditionMemo: Hashable, Sendable {
  /// The values that the rule remembered when it last fired, as a JSON object; nil if it never did.
  package var last: String?
  /// Why the condition could not be evaluated at the last change of the ride, as the ledger has it; of
  /// a card whose start waits, why the condition does not hold.
  package var complaint: String?

  var isEmpty: Bool { last == nil && complaint == nil }
}

/// One firing of a rule: all of its pushes are about one event or slot.
struct RuleFiring: Hashable, Sendable {
  var rule: String
  var event: Int64
  var at: Timestamp
  /// The person, if the rule fires for each of several on its own.
  var app: App?
  var owner: OwnerID?
}

extension RuleFiring {
  init(_ rule: String, _ event: RideEvent) {
    self.init(rule: rule, event: event.id, at: event.firing)
  }

  /// Identifies it among the firings of one ride.
  var key: String { "\(event) \(at.microseconds) \(rule)" }
}

/// The limits of what waits in a memo.
///
/// More would fill the agenda row of the ride, which each of its settlements writes.
struct MemoBudget {
  /// The maximum number of waiting items.
  static let items = 10_000
  /// The maximum size of the data of their events, in bytes.
  static let bytes = 4 << 20
  /// The maximum size of what their rules remembered, in bytes.
  static let memories = 1 << 20

  private var count: Int
  private var used: Int
  private var events: Set<Int64>

  init(_ waiting: [WaitingItem]) {
    count = 0
    used = 0
    events = []
    for item in waiting { _ = admit(item.entry.event) }
  }

  /// Adds one more push; returns a reason if it does not fit.
  mutating func admit(_ event: RideEvent) -> LedgerReason? {
    if count >= Self.items {
      return LedgerReason(
        .memoFull, "too many pushes to retry: a ride keeps \(Self.items)")
    }
    let bytes = event.data.utf8.count
    if bytes > 2, !events.contains(event.id) {
      if used + bytes > Self.bytes {
        return LedgerReason(
          .memoFull,
          "too many pushes to retry: a ride keeps \(Self.bytes >> 20) MiB of event data")
      }
      used += bytes
      events.insert(event.id)
    }
    count += 1
    return nil
  }
}
