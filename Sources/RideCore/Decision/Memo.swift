/// What a decision leaves to the next one for the same ride, kept in its agenda row.
package struct Memo: Hashable, Sendable {
  /// Pushes that were tried and go again later.
  package var retries: [PendingPush] = []
  /// How far each rule that speaks by the clock has come, by the rule's name.
  package var slots: [String: SlotMemo] = [:]
  /// The lives of the ride's cards, by `Card.id`.
  package var cards: [Int64: CardMemo] = [:]
  /// Starts by push, by `StartToken.id`.
  package var starts: [Int64: StartMemo] = [:]

  /// What is left of a look that was cut into parts.
  package var part: OpenPart?

  /// A memo with nothing in it.
  package init() {}

  /// Nothing needs to be kept.
  package var isEmpty: Bool {
    retries.isEmpty && slots.isEmpty && cards.isEmpty && starts.isEmpty && part == nil
  }
}

/// A push that was tried and goes again; it is rendered anew then, from the ride as it is then.
package struct PendingPush: Hashable, Sendable {
  /// What the ledger says of it so far.
  package var entry: LedgerEntry
  /// When it goes again.
  package var due: Timestamp
  /// True where it was not tried, since a card is to say the same.
  package var waitsForCard: Bool?
  /// The row that its text shows, if the ride names another person by now.
  package var image: RideImage?

  /// A push that goes again at a time.
  package init(entry: LedgerEntry, due: Timestamp, image: RideImage? = nil) {
    self.entry = entry
    self.due = due
    self.image = image
  }
}

/// How far one rule that speaks by the clock has come with one ride.
package struct SlotMemo: Hashable, Sendable {
  /// Since when the ride is in the rule's states; nil while it is in others.
  package var anchor: Timestamp?
  /// Every slot up to here has been accounted for.
  package var through: Timestamp
  /// The slot that follows from a time of the ride, as it was when last looked at.
  package var planned: Timestamp?
  /// The last such slot that the rule spoke at.
  package var fired: Timestamp?
}

extension SlotMemo: Codable {
  /// Reads `ANCHOR THROUGH PLANNED FIRED`, in microseconds since 1970, with `-` for none.
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

  /// Writes one text: a memo is written with every settlement, and an object for each rule would
  /// take three times as long.
  package func encode(to encoder: any Encoder) throws {
    func text(_ instant: Timestamp?) -> String { instant.map { String($0.microseconds) } ?? "-" }
    var container = encoder.singleValueContainer()
    try container.encode(
      "\(text(anchor)) \(text(through)) \(text(planned)) \(text(fired))")
  }
}
