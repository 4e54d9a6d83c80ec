import Foundation
import RideCore

/// The parameters of `SettleStatements.settle` for a batch of settlements, as text arrays.
struct SettleParameters {
  let texts: [String?]

  init(node: String, _ batch: [ClaimedSettlement]) {
    let settlements = batch.map(\.settlement)
    let entries = settlements.flatMap { settlement in
      settlement.entries.map { (ride: settlement.rideID, entry: $0) }
    }
    let encoder = JSONEncoder()
    let gone = settlements.flatMap(\.gone)
    let findings = settlements.flatMap { settlement in
      settlement.findings.map { (ride: settlement.rideID, finding: $0) }
    }
    let tallies = settlements.flatMap { settlement in
      settlement.tallies.sorted { $0.key < $1.key }.map {
        (ride: settlement.rideID, rule: $0.key, tally: $0.value)
      }
    }
    texts =
      [
        node,
        Self.array(batch) { $0.claim.rideID.text },
        Self.array(batch) { String($0.claim.fence) },
        Self.array(settlements) { Self.json($0.memo, encoder) },
        Self.array(settlements) { $0.nextDue.map { String($0.microseconds) } },
        Self.array(settlements) { $0.isOver ? "t" : "f" },
        PostgresArray.literal(settlements.flatMap(\.consumed).map(String.init)),
        Self.array(entries) { $0.ride.text },
        Self.array(entries) { $0.entry.id.description },
        Self.array(entries) { $0.entry.isOfSlot ? nil : String($0.entry.event.id) },
        Self.array(entries) { $0.entry.event.name },
        Self.array(entries) { $0.entry.rule },
        Self.array(entries) { $0.entry.app.rawValue },
        Self.array(entries) { $0.entry.pushType.rawValue },
        Self.array(entries) { $0.entry.status.rawValue },
        Self.array(entries) { $0.entry.reason?.text },
        Self.array(entries) { String($0.entry.attempts) },
        Self.array(entries) { $0.entry.collapseID },
        Self.array(entries) { $0.entry.phone.map { String($0) } },
        Self.array(entries) { $0.entry.tokenSuffix },
        Self.array(entries) { String($0.entry.event.at.microseconds) },
        Self.array(gone) { String($0.id) },
        Self.array(gone) { $0.since.map { String($0.microseconds) } },
        Self.array(gone) { $0.reason },
        Self.array(tallies) { $0.ride.text },
        Self.array(tallies) { $0.rule },
      ]
      + [\SlotTally.due, \.fired, \.skipped, \.missed, \.capped, \.expired].map { count in
        Self.array(tallies) { String($0.tally[keyPath: count]) }
      } + [
        Self.array(entries) { $0.entry.priority.map { String($0.rawValue) } },
        Self.array(entries) { $0.entry.expiration.map { String($0) } },
        Self.array(entries) { $0.entry.cardEvent?.rawValue },
        Self.array(gone) { $0.kind.rawValue },
        Self.array(findings) { $0.ride.text },
        Self.array(findings) { String($0.finding.phone) },
        Self.array(findings) { $0.finding.kind.word },
        Self.array(findings) { $0.finding.kind.value },
        Self.array(entries) { $0.entry.reason?.code.word },
      ]
  }

  private static func array<Element>(
    _ elements: [Element], _ text: (Element) -> String?
  ) -> String {
    PostgresArray.literal(elements.map(text))
  }

  /// Returns a memo as the agenda stores it; nil for an empty one.
  static func json(_ memo: Memo, _ encoder: JSONEncoder = JSONEncoder()) -> String? {
    if memo.isEmpty { return nil }
    // A memo holds only texts and integers, which JSON can always represent.
    return (try? encoder.encode(memo)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension PhoneObservation.Kind {
  /// The word for the kind in `SettleStatements.settle`.
  fileprivate var word: String {
    switch self {
    case .bad: "bad"
    case .probed: "probed"
    case .unprobed: "unprobed"
    case .good: "good"
    case .throttled: "throttled"
    }
  }

  /// The value that goes with the kind.
  fileprivate var value: String? {
    switch self {
    case .bad(let probe): probe?.description
    case .probed(let environment): environment?.rawValue
    case .unprobed(let push): push.description
    case .good: nil
    case .throttled(let until): String(until.microseconds)
    }
  }
}
