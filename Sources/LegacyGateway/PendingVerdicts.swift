internal import RideCore

/// Committed pushes of connected senders that have no verdict in the ledger yet.
struct PendingVerdicts {
  struct Refused: Equatable {
    var connection: Int
    var identifier: UInt32
  }

  private struct Entry {
    var receipt: LegacyReceipt
    var connection: Int
    var identifier: UInt32
    var order: UInt64
    var until: ContinuousClock.Instant
  }

  /// Beyond this number the oldest are no longer watched; their verdicts are only in the ledger.
  static let limit = 50_000
  /// After this time a sender no longer remembers what it sent.
  static let patience: Duration = .seconds(600)

  private var entries: [PushID: Entry] = [:]
  private var queue: ArraySlice<PushID> = []
  private var count: UInt64 = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(
    _ receipt: LegacyReceipt, identifier: UInt32, connection: Int, now: ContinuousClock.Instant
  ) {
    if entries[receipt.id]?.connection == connection { return }
    count += 1
    entries[receipt.id] = Entry(
      receipt: receipt, connection: connection, identifier: identifier, order: count,
      until: now + Self.patience)
    queue.append(receipt.id)
    while entries.count > Self.limit, let oldest = queue.popFirst() { entries[oldest] = nil }
  }

  /// Returns the next pushes to ask about, those that were not asked about for the longest first.
  mutating func next(_ limit: Int, now: ContinuousClock.Instant) -> [LegacyReceipt] {
    var receipts: [LegacyReceipt] = []
    while receipts.count < limit, let id = queue.popFirst() {
      guard let entry = entries[id] else { continue }
      if entry.until > now { receipts.append(entry.receipt) } else { entries[id] = nil }
    }
    return receipts
  }

  /// Records verdicts; returns the first push of each connection whose token is bad.
  ///
  /// Pushes without a verdict are asked about again.
  mutating func record(
    _ asked: [LegacyReceipt], _ verdicts: [PushID: LegacyVerdict]
  ) -> [Refused] {
    var bad: [Entry] = []
    for receipt in asked {
      switch verdicts[receipt.id] {
      case nil: if entries[receipt.id] != nil { queue.append(receipt.id) }
      case .badToken: if let entry = entries.removeValue(forKey: receipt.id) { bad.append(entry) }
      case .other: entries[receipt.id] = nil
      }
    }
    var reported: Set<Int> = []
    return bad.sorted { $0.order < $1.order }.compactMap { entry in
      reported.insert(entry.connection).inserted
        ? Refused(connection: entry.connection, identifier: entry.identifier) : nil
    }
  }

  /// Removes the pushes of a sender that has disconnected.
  mutating func forget(_ connection: Int) {
    entries = entries.filter { $0.value.connection != connection }
  }
}
