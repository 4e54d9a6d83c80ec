/// A thing that an app reports to its backend.
enum Report: Codable, Hashable, Sendable {
  case phone(PhoneReport)
  case start(type: String, token: String)
  case card(CardReport)
  case contact
  case seen(String)
  case withdrawPhone(app: String, token: String, lane: String)
  case withdrawStart(type: String, token: String)
  case endCard(String)
  /// The person signs out: unlike one that ended, the card may be registered again.
  case withdrawCard(String)

  /// Reports of one slot replace each other: only the newest counts.
  var slot: String {
    switch self {
    case .phone(let phone): phone.lane
    case .start(let type, _): "start \(type)"
    case .card(let card): "card \(card.activityID)"
    case .endCard(let id): "card \(id)"
    case .contact: "contact"
    case .seen(let id): "seen \(id)"
    case .withdrawPhone(let app, let token, _): "withdraw \(app) \(token)"
    case .withdrawStart(let type, let token): "withdraw start \(type) \(token)"
    case .withdrawCard(let id): "withdraw card \(id)"
    }
  }

  /// Reports of one lane arrive in the order in which they were made.
  var lane: String {
    switch self {
    case .withdrawPhone(_, _, let lane): lane
    case .withdrawStart(let type, _): "start \(type)"
    case .withdrawCard(let id): "card \(id)"
    default: slot
    }
  }

  /// A name for logs, which must have no tokens.
  var name: String {
    switch self {
    case .phone(let phone): "phone of \(phone.app)"
    case .withdrawPhone(let app, _, _): "sign-out of \(app)"
    case .withdrawStart(let type, _): "withdrawal of start \(type)"
    case .endCard(let id): "end of card \(id)"
    case .withdrawCard(let id): "withdrawal of card \(id)"
    default: slot
    }
  }

  /// Lower ones are sent first: a card without its token stands still on the screen.
  var rank: Int {
    switch self {
    case .card, .endCard: 0
    case .withdrawCard, .withdrawPhone: 1
    case .phone: 2
    case .start, .withdrawStart: 3
    case .seen: 4
    case .contact: 5
    }
  }

  /// Returns for how many seconds the report is worth sending; nil means always.
  var lifetime: Double? {
    switch self {
    case .contact: 600
    case .seen: 86_400
    case .withdrawPhone, .withdrawStart, .withdrawCard, .endCard: 30 * 86_400
    case .phone, .start, .card: nil
    }
  }
}

/// A phone's token, or one of its widgets, controls or location extension, which have an app of their own
/// in RidePulse.
struct PhoneReport: Codable, Hashable, Sendable {
  let app: String
  let token: String
  /// Whether the newest token replaces the others. An installation has several controls.
  var isOnlyOne = true
  var locale: String?
  var timeZone: String?
  var alerts: Bool?
  var appVersion: String?

  var lane: String { isOnlyOne ? "phone \(app)" : "phone \(app) \(token)" }
}

/// A card on the screen and the token of its updates.
struct CardReport: Codable, Hashable, Sendable {
  let activityID: String
  let ride: String
  let token: String
  let isFrequent: Bool
}
