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

  /// The rest of a pass that was split into parts.
  package var part: OpenPart?

  package init() {}

  /// Whether there is nothing to keep.
  package var isEmpty: Bool {
    retries.isEmpty && slots.isEmpty && cards.isEmpty && starts.isEmpty && part == nil
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
  /// The slot that follows from a time of the ride, as of the last decision.
  package var planned: Timestamp?
  /// The last such slot at which the rule fired.
  package var fired: Timestamp?
}

extension SlotMemo: Codable {
  /// Decodes `ANCHOR THROUGH PLANNED FIRED`, in microseconds since 1970, with `-` for none.
  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    func instant(_ index: Int) throws -> Timestamp? {
      if words[index] == "-" { return nil }
      if let microseconds = Int64(words[index]) { return Timestamp(microseconds: microseconds) }
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not times of slots: \(text)"))
    }
    guard words.count == 4, let through = try instant(1) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not times of slots: \(text)"))
    }
    self.init(
      anchor: try instant(0), through: through, planned: try instant(2), fired: try instant(3))
  }

  /// Encodes the memo as one text.
  ///
  /// A memo is written with every settlement, and an object for each rule would take three times as
  /// long.
  package func encode(to encoder: any Encoder) throws {
    func text(_ instant: Timestamp?) -> String { instant.map { String($0.microseconds) } ?? "-" }
    var container = encoder.singleValueContainer()
    try container.encode(
      "\(text(anchor)) \(text(through)) \(text(planned)) \(text(fired))")
  }
}
