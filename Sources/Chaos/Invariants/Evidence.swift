import Foundation
import PostgresStore

/// What a run left behind: the simulator's records, the ledger, and what the producers counted.
struct Evidence: Sendable {
  /// An event that a producer committed.
  struct Event: Sendable {
    let id: Int64
    let ride: String
    let name: String
    /// The ride's driver after the transaction that made it.
    let driver: String?
  }

  /// One row of `ridepulse.devices`.
  struct Phone: Sendable {
    let app: String
    let owner: String
    let token: String
    let disabledReason: String?
  }

  /// When the run began, in seconds since 1970.
  let start: Double
  let incidents: IncidentLog
  let arrivals: [Arrival]
  let ledger: [LedgerRow]
  /// Committed events by ID.
  let events: [Int64: Event]
  /// How many of them the producers meant to make.
  let stepped: Int
  /// Activities by update token.
  let cards: [String: String]
  let rides: Int
  /// Rows of `ridepulse.events`.
  let unconsumed: Int
  /// Tokens of the phones that rides still mean.
  let currentTokens: Set<String>
  /// All phones by ID.
  let phones: [Int64: Phone]
  /// Tokens that APNs called gone, and whose phone or card is enabled, though it did not register since.
  let enabledTokens: Set<String>
  /// Partitions and indexes of the ledger that are not on the disk that was filled.
  let strayPartitions: [String]
  /// What the agenda still holds.
  let agenda: [String]
  /// Slots by rule: due, fired, skipped, missed, capped, expired, remainder.
  let slots: [(rule: String, counts: [Int64])]

  /// Writes ledger, diary and agenda beside the simulator's records.
  func keep(in directory: String) throws {
    let ledger = ledger.map { "\(time($0.finishedAt)) \($0.line)" }
    let incidents = incidents.incidents.map { $0.line(since: start) }
    for (name, lines) in [("ledger.txt", ledger), ("diary.txt", incidents), ("agenda.txt", agenda)]
    {
      try Data((lines.joined(separator: "\n") + "\n").utf8)
        .write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
  }

  /// A time as seconds since the start of the run.
  func time(_ seconds: Double) -> String { String(format: "%.2f s", seconds - start) }

  /// A push for a person.
  func line(_ arrival: Arrival) -> String {
    let card = [arrival.cardEvent, arrival.timestamp.map { "timestamp \($0)" }]
      .compactMap(\.self).joined(separator: " ")
    let fault = arrival.fault.map { " (fault: \($0))" } ?? ""
    return "\(time(arrival.at)) \(arrival.node) connection \(arrival.connection) "
      + "\(arrival.pushType) \(card.isEmpty ? "" : card + " ")of ride \(arrival.ride) to "
      + "…\(arrival.token.suffix(6)), apns-id \(arrival.id), answered \(arrival.status)\(fault)"
  }

  /// Sleeps of nodes that ended no more than a moment before.
  func wakings(before time: Double) -> String {
    let recent = incidents.incidents.filter { incident in
      (incident.kind == .pause || incident.kind == .longPause)
        && (incident.to - 0.1...incident.to + 2).contains(time)
    }
    if recent.isEmpty { return "" }
    return "; just before: " + recent.map { $0.line(since: start) }.joined(separator: "; ")
  }
}
