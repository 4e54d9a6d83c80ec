/// What one decision passes to the next for the same ride, stored in its agenda row.
package struct Memo: Hashable, Sendable {
  /// Pushes that wait for an attempt.
  package var retries: [PendingPush] = []
  /// How far each schedule rule has progressed, by rule name.
  package var slots: [String: SlotMemo] = [:]
  /// The state of the ride's cards.
  package var cards: [CardTarget: CardMemo] = [:]
  /// Card starts by push, by `StartToken.id`.
  package var starts: [Int64: StartMemo] = [:]
  /// Raw pushes that were journalled, must not repeat, and have no recorded outcome.
  package var unrepeatable: [PushID] = []
  /// What is kept of each rule's `if`, by rule name.
  package var conditions: [String: ConditionMemo] = [:]

  /// The rest of a pass that was split into parts.
  package var part: OpenPart?

  package init() {}

  /// Whether there is nothing to keep.
  package var isEmpty: Bool {
    retries.isEmpty && slots.isEmpty && cards.isEmpty && starts.isEmpty && unrepeatable.isEmpty
      && part == nil && conditions.isEmpty
  }
}

/// A push that waits for an attempt; it is rendered from the ride's state at that time.
package struct PendingPush: Hashable, Sendable {
  /// Its ledger entry so far.
  package var entry: LedgerEntry
  /// When it is tried next.
  package var due: Timestamp
  /// True if it was not tried because a card is to show the same alert.
  package var waitsForCard: Bool?
  /// The row that its text shows, if the ride names another person by now.
  package var image: RideImage?
  /// The pushes one of which is to be seen, of an escalation; nil for a push.
  package var awaited: [PushID]?

  package init(entry: LedgerEntry, due: Timestamp, image: RideImage? = nil) {
    self.entry = entry
    self.due = due
    self.image = image
  }
}

/// How far one schedule rule has progressed for one ride.
package struct SlotMemo: Hashable, Sendable {
  /// When the ride entered the rule's states; nil while it is in others.
  package var anchor: Timestamp?
  /// The time up to which every slot is accounted for.
  package var through: Timestamp
  /// The slot that follows from a time of the ride, as of the last decision; for a slot after an
  /// event, the time of the event until the slot is accounted for.
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
package struct ConditionMemo: Hashable, Sendable, Codable {
  /// The values that the rule remembered when it last fired, as a JSON object; nil if it never did.
  package var last: String?
  /// Why the condition could not be evaluated at the last change of the ride, as the ledger has it.
  package var complaint: String?

  var isEmpty: Bool { last == nil && complaint == nil }
}

/// A rule that does not fire on an event in any part of a split pass.
struct WithheldFiring: Hashable, Sendable, Codable {
  var rule: String
  var event: Int64
  var at: Timestamp
}

extension WithheldFiring {
  init(_ rule: CompiledRule, _ event: RideEvent) {
    self.init(rule: rule.name, event: event.id, at: event.at)
  }
}

extension SlotMemo: Codable {
  /// Decodes `ANCHOR THROUGH PLANNED FIRED`, in microseconds since 1970, with `-` for none; then,
  /// if there is more, `CHANGED` and `unreadable` or `-`.
  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    func instant(_ index: Int) throws -> Timestamp? {
      if words[index] == "-" { return nil }
      if let microseconds = Int64(words[index]) { return Timestamp(microseconds: microseconds) }
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not times of slots: \(text)"))
    }
    guard words.count == 4 || words.count == 6, let through = try instant(1) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not times of slots: \(text)"))
    }
    self.init(
      anchor: try instant(0), through: through, planned: try instant(2), fired: try instant(3))
    if words.count == 4 { return }
    changed = try instant(4)
    isUnreadable = words[5] == Self.unreadable
  }

  private static let unreadable = "unreadable"

  /// Encodes the memo as one text.
  ///
  /// A memo is written with every settlement, and an object for each rule would take three times as
  /// long.
  package func encode(to encoder: any Encoder) throws {
    func text(_ instant: Timestamp?) -> String { instant.map { String($0.microseconds) } ?? "-" }
    var words = "\(text(anchor)) \(text(through)) \(text(planned)) \(text(fired))"
    if changed != nil || isUnreadable {
      words += " \(text(changed)) \(isUnreadable ? Self.unreadable : "-")"
    }
    var container = encoder.singleValueContainer()
    try container.encode(words)
  }
}

// A memo as JSON. What many pushes share, the data of their event and a former row, is stored once:
// a ride with thousands of phones may retry one event for each of them.
extension Memo: Codable {
  private enum CodingKeys: String, CodingKey {
    case retries, slots, cards, starts, unrepeatable, part, data, images, conditions
  }

  /// A retry that refers to its image by index in `images`.
  private struct Retry: Codable {
    var entry: LedgerEntry
    var due: Timestamp
    var waitsForCard: Bool?
    var image: Int?
    var awaited: [PushID]?
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    slots = try container.decodeIfPresent([String: SlotMemo].self, forKey: .slots) ?? [:]
    cards = try container.decodeIfPresent([CardTarget: CardMemo].self, forKey: .cards) ?? [:]
    starts = try container.decodeIfPresent([Int64: StartMemo].self, forKey: .starts) ?? [:]
    unrepeatable = try container.decodeIfPresent([PushID].self, forKey: .unrepeatable) ?? []
    part = try container.decodeIfPresent(OpenPart.self, forKey: .part)
    conditions =
      try container.decodeIfPresent([String: ConditionMemo].self, forKey: .conditions) ?? [:]
    let images = try container.decodeIfPresent([RideImage].self, forKey: .images) ?? []
    retries =
      try container.decodeIfPresent([Retry].self, forKey: .retries)?.map { retry in
        var pending = PendingPush(entry: retry.entry, due: retry.due)
        pending.waitsForCard = retry.waitsForCard
        pending.awaited = retry.awaited
        pending.image = retry.image.flatMap { images.indices.contains($0) ? images[$0] : nil }
        return pending
      } ?? []
    if let data = try container.decodeIfPresent([Int64: String].self, forKey: .data) {
      updateEvents { event in
        if event.data.isEmpty { event.data = data[event.id] ?? "{}" }
      }
    }
  }

  /// Encodes the parts that are not empty.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var data: [Int64: String] = [:]
    var memo = self
    memo.updateEvents { event in
      if event.data == "{}" { return }
      // After a failover, two events may have one ID: the second one keeps its data.
      if let stored = data[event.id], stored != event.data { return }
      data[event.id] = event.data
      event.data = ""
    }
    if !data.isEmpty { try container.encode(data, forKey: .data) }
    try encode(memo.retries, to: &container)
    if !slots.isEmpty { try container.encode(slots, forKey: .slots) }
    if !cards.isEmpty { try container.encode(memo.cards, forKey: .cards) }
    if !starts.isEmpty { try container.encode(memo.starts, forKey: .starts) }
    if !unrepeatable.isEmpty { try container.encode(unrepeatable, forKey: .unrepeatable) }
    if let part { try container.encode(part, forKey: .part) }
    if !conditions.isEmpty { try container.encode(conditions, forKey: .conditions) }
  }

  private func encode(
    _ retries: [PendingPush], to container: inout KeyedEncodingContainer<CodingKeys>
  ) throws {
    if retries.isEmpty { return }
    var images: [RideImage] = []
    var places: [ObjectIdentifier: Int] = [:]
    let written = retries.map { pending in
      var retry = Retry(
        entry: pending.entry, due: pending.due, waitsForCard: pending.waitsForCard)
      retry.awaited = pending.awaited
      guard let image = pending.image else { return retry }
      retry.image = places[ObjectIdentifier(image)] ?? images.firstIndex(of: image) ?? images.count
      if retry.image == images.count { images.append(image) }
      places[ObjectIdentifier(image)] = retry.image
      return retry
    }
    try container.encode(written, forKey: .retries)
    if !images.isEmpty { try container.encode(images, forKey: .images) }
  }

  private mutating func updateEvents(_ update: (inout RideEvent) -> Void) {
    for index in retries.indices { update(&retries[index].entry.event) }
    for id in starts.keys {
      guard var start = starts[id] else { continue }
      update(&start.entry.event)
      starts[id] = start
    }
    for id in cards.keys {
      guard var card = cards[id] else { continue }
      card.updateEvents(update)
      cards[id] = card
    }
  }
}

extension CardMemo {
  fileprivate mutating func updateEvents(_ update: (inout RideEvent) -> Void) {
    for path in [\CardMemo.subject, \.cause, \.alert] {
      guard var event = self[keyPath: path] else { continue }
      update(&event)
      self[keyPath: path] = event
    }
  }
}

/// The limits of a memo's retries.
///
/// More would fill the agenda row of the ride, which each of its settlements writes.
struct MemoBudget {
  /// The maximum number of waiting pushes.
  static let retries = 10_000
  /// The maximum size of the data of their events, in bytes.
  static let bytes = 4 << 20

  private var count: Int
  private var used: Int
  private var events: Set<Int64>

  init(_ retries: [PendingPush]) {
    count = 0
    used = 0
    events = []
    for pending in retries { _ = admit(pending.entry.event) }
  }

  /// Adds one more push; returns a reason if it does not fit.
  mutating func admit(_ event: RideEvent) -> LedgerReason? {
    if count >= Self.retries {
      return LedgerReason(
        .memoFull, "too many pushes to retry: a ride keeps \(Self.retries)")
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
