import Base

/// A card's message to one phone, without its content.
struct AndroidCardDraft {
  let update: CardStateMachine.CardUpdate
  let phone: Phone
  let rule: CardRule
  let rendered: RenderedCard
  /// The keys that each message has, except for `rp_gone_at`.
  let message: AndroidMessage
  let goneAt: Timestamp?

  var isEnd: Bool { update.event == .end }
}

/// What a card's message shows.
struct AndroidCardContent {
  var message: AndroidMessage
  /// The event whose alert it has.
  var alert: RideEvent?
  var broken: [RenderingError]
}

/// A card's message that FCM accepts.
struct AndroidCardMessage {
  let entry: LedgerEntry
  let body: [UInt8]
  /// The event whose alert it has.
  let alert: RideEvent?
  let broken: [RenderingError]
  /// What an end leaves out, and why; nil if nothing.
  let omission: LedgerReason?
}

/// The parts of a card's content that an end can do without.
enum AndroidCardPart: String, CaseIterable {
  /// The custom keys of the rule.
  case data
  case state = "rp_state"
  case look = "rp_look"
  case alert = "rp_alert"
}
