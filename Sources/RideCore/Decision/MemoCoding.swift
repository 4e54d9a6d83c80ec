// A memo as JSON. What many pushes share, the data of their event and a former row, is stored once:
// a ride with thousands of phones may retry one event for each of them.
extension Memo: Codable {
  private enum CodingKeys: String, CodingKey {
    case retries, slots, cards, starts, part, data, images
  }

  /// A retry that refers to its image by index in `images`.
  private struct Retry: Codable {
    var entry: LedgerEntry
    var due: Timestamp
    var waitsForCard: Bool?
    var image: Int?
  }

  /// Decodes a memo of this version or an earlier one.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    slots = try container.decodeIfPresent([String: SlotMemo].self, forKey: .slots) ?? [:]
    cards = try container.decodeIfPresent([CardTarget: CardMemo].self, forKey: .cards) ?? [:]
    starts = try container.decodeIfPresent([Int64: StartMemo].self, forKey: .starts) ?? [:]
    part = try container.decodeIfPresent(OpenPart.self, forKey: .part)
    let images = try container.decodeIfPresent([RideImage].self, forKey: .images) ?? []
    retries =
      try container.decodeIfPresent([Retry].self, forKey: .retries)?.map { retry in
        var pending = PendingPush(entry: retry.entry, due: retry.due)
        pending.waitsForCard = retry.waitsForCard
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
      data[event.id] = event.data
      event.data = ""
    }
    if !data.isEmpty { try container.encode(data, forKey: .data) }
    try encode(memo.retries, to: &container)
    if !slots.isEmpty { try container.encode(slots, forKey: .slots) }
    if !cards.isEmpty { try container.encode(memo.cards, forKey: .cards) }
    if !starts.isEmpty { try container.encode(memo.starts, forKey: .starts) }
    if let part { try container.encode(part, forKey: .part) }
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
        .memoFull, "too many pushes to try again: the ride keeps \(Self.retries)")
    }
    let bytes = event.data.utf8.count
    if bytes > 2, !events.contains(event.id) {
      if used + bytes > Self.bytes {
        return LedgerReason(
          .memoFull,
          "too many pushes to try again: the ride keeps \(Self.bytes >> 20) MiB of event data")
      }
      used += bytes
      events.insert(event.id)
    }
    count += 1
    return nil
  }
}
