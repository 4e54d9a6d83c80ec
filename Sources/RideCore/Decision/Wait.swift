package import Base

/// Why something that a rule fired does not leave yet, and when the ride looks at it again.
package enum Wait: Hashable, Sendable {
  /// The time of its rule's `at`; it is decided for the first time then.
  case until(Timestamp)
  /// Its owner's quiet hours.
  case quiet(until: Timestamp)
  /// A pause of its rule, event or app, or the next time to look whether it was ended.
  case paused(until: Timestamp)
  /// An attempt failed, or APNs throttles the phone: the next attempt.
  case retry(at: Timestamp)
  /// An earlier push to its phone goes first, or its node handed it back: it was not tried.
  case behind(until: Timestamp)
  /// A card is to show the same, and was not tried: both are tried together.
  case card(at: Timestamp)
  /// Of an escalation: a receipt of one of these pushes; none are those of an owner without a phone.
  case receipt(until: Timestamp, of: [PushID])

  package var due: Timestamp {
    switch self {
    case .until(let due), .quiet(let due), .paused(let due), .retry(let due), .behind(let due),
      .card(let due), .receipt(let due, _):
      due
    }
  }

  /// Whether it lasts until it is due on purpose: until then it delays no other push to its phone,
  /// replaces none that is sent, and no node has sent it.
  package var isDeliberate: Bool {
    switch self {
    case .until, .quiet, .paused, .receipt: true
    case .retry, .behind, .card: false
    }
  }

  /// The pushes of an escalation; nil for anything else.
  package var awaited: [PushID]? {
    if case .receipt(_, let pushes) = self { pushes } else { nil }
  }

  /// Whether the time of its rule's `at` had not come, so that it was never decided.
  var isFirst: Bool { if case .until = self { true } else { false } }

  /// Returns the same wait with another time.
  func moved(to due: Timestamp) -> Wait { Wait(kind, due, awaited ?? []) }
}

/// Something of a ride that waits: it is rendered from the ride's state when it leaves.
package struct WaitingItem: Hashable, Sendable {
  /// Its ledger entry so far.
  package var entry: LedgerEntry
  package var wait: Wait
  /// The row that its text shows, if the ride names another person by now.
  package var image: RideImage?

  package init(entry: LedgerEntry, wait: Wait, image: RideImage? = nil) {
    self.entry = entry
    self.wait = wait
    self.image = image
  }

  /// When the ride looks at it again.
  package var due: Timestamp { wait.due }
}

extension Wait: StoredObject {
  private enum Kind: String, StoredAsRaw {
    case until, quiet, paused, retry, behind, card, receipt
  }

  package static var blank: Wait { .until(Timestamp(microseconds: 0)) }

  private init(_ kind: Kind, _ due: Timestamp, _ pushes: [PushID]) {
    switch kind {
    case .until: self = .until(due)
    case .quiet: self = .quiet(until: due)
    case .paused: self = .paused(until: due)
    case .retry: self = .retry(at: due)
    case .behind: self = .behind(until: due)
    case .card: self = .card(at: due)
    case .receipt: self = .receipt(until: due, of: pushes)
    }
  }

  private var kind: Kind {
    switch self {
    case .until: .until
    case .quiet: .quiet
    case .paused: .paused
    case .retry: .retry
    case .behind: .behind
    case .card: .card
    case .receipt: .receipt
    }
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    var (kind, due, pushes) = (kind, due, awaited ?? [])
    try fields.field("for", &kind)
    try fields.field("due", &due)
    try fields.parts("pushes", &pushes)
    self = Wait(kind, due, pushes)
  }
}
