import Foundation
import PostgresStore

/// The results of a run: the simulator's record, the ledger, and the events that producers counted.
struct Evidence: Sendable {
  /// An event that a producer committed.
  struct Event: Sendable {
    let id: Int64
    let ride: String
    let name: String
    /// The ride's driver after the transaction that created the event.
    let driver: String?
  }

  /// One row of `ridepulse.devices`.
  struct Phone: Sendable {
    let app: String
    let owner: String
    let token: String
    let disabledReason: String?
  }

  /// The start of the run, in seconds since 1970.
  let start: Double
  let incidents: IncidentLog
  let arrivals: [Arrival]
  let ledger: [LedgerRow]
  /// Committed events by ID.
  let events: [Int64: Event]
  /// The number of events that the producers intended to commit.
  let stepped: Int
  /// Activity IDs by update token.
  let cards: [String: String]
  let rides: Int
  /// The number of rows in `ridepulse.events`.
  let unconsumed: Int
  /// Tokens of the enabled phones that belong to a ride's customer or driver.
  let currentTokens: Set<String>
  /// All phones by ID.
  let phones: [Int64: Phone]
  /// Tokens that APNs reported as gone, but whose phone or card is enabled without a later
  /// registration.
  let enabledTokens: Set<String>
  /// Partitions and indexes of the ledger that are not on the volume that was filled.
  let strayPartitions: [String]
  /// The remaining rows of the agenda.
  let agenda: [String]
  /// Slots by rule: due, fired, skipped, missed, capped, expired, remainder.
  let slots: [(rule: String, counts: [Int64])]

  /// Writes the ledger, the incident log and the agenda to the run's directory.
  func keep(in directory: String) throws {
    let ledger = ledger.map { "\(time($0.finishedAt)) \($0.line)" }
    let incidents = incidents.incidents.map { $0.line(since: start) }
    for (name, lines) in [("ledger.txt", ledger), ("diary.txt", incidents), ("agenda.txt", agenda)]
    {
      try Data((lines.joined(separator: "\n") + "\n").utf8)
        .write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
  }

  /// Returns a time as seconds since the start of the run.
  func time(_ seconds: Double) -> String { String(format: "%.2f s", seconds - start) }

  /// Returns a push as one readable line.
  func line(_ arrival: Arrival) -> String {
    let card = [arrival.cardEvent, arrival.timestamp.map { "timestamp \($0)" }]
      .compactMap(\.self).joined(separator: " ")
    let fault = arrival.fault.map { " (fault: \($0))" } ?? ""
    return "\(time(arrival.at)) \(arrival.node) connection \(arrival.connection) "
      + "\(arrival.pushType) \(card.isEmpty ? "" : card + " ")of ride \(arrival.ride) to "
      + "…\(arrival.token.suffix(6)), apns-id \(arrival.id), answered \(arrival.status)\(fault)"
  }

  /// Returns a description of node pauses that ended at most two seconds before; empty if there
  /// were none.
  func wakings(before time: Double) -> String {
    let recent = incidents.incidents.filter { incident in
      (incident.kind == .pause || incident.kind == .longPause)
        && (incident.to - 0.1...incident.to + 2).contains(time)
    }
    if recent.isEmpty { return "" }
    return "; just before: " + recent.map { $0.line(since: start) }.joined(separator: "; ")
  }
}
