import Foundation
import PostgresStore

/// What a run left behind: the simulator's records, the ledger, and what the producers counted.
struct Evidence: Sendable {
  /// When the run began, in seconds since 1970.
  let start: Double
  let diary: Diary
  let arrivals: [Arrival]
  let ledger: [LedgerRow]
  /// Committed events: ride and name by ID.
  let events: [Int64: (ride: String, name: String)]
  /// How many of them the producers meant to make.
  let stepped: Int
  /// Activities by update token.
  let cards: [String: String]
  let rides: Int
  /// Rows of `ridepulse.events`.
  let unconsumed: Int
  /// Tokens of the phones that rides still mean.
  let phones: Set<String>
  /// What the agenda still holds.
  let agenda: [String]
  /// Slots by rule: due, fired, skipped, missed, capped, expired, remainder.
  let slots: [(rule: String, counts: [Int64])]

  static func read(
    _ session: PostgresSession, records: String, diary: Diary, start: Double
  ) async throws -> Evidence {
    let results = try await session.run(queries.map { Call($0) }, timeout: .seconds(120))
    func count(_ result: Int) -> Int { Int(results[result].int64(0, 0) ?? 0) }
    var events: [Int64: (ride: String, name: String)] = [:]
    for row in 0..<results[1].rowCount {
      events[results[1].int64(row, 0) ?? 0] = (
        results[1].string(row, 1) ?? "", results[1].string(row, 2) ?? ""
      )
    }
    var cards: [String: String] = [:]
    for row in 0..<results[2].rowCount {
      cards[results[2].string(row, 0) ?? ""] = results[2].string(row, 1)
    }
    return Evidence(
      start: start, diary: diary, arrivals: try Arrival.read(records),
      ledger: rows(results[0]), events: events, stepped: count(3), cards: cards,
      rides: count(4), unconsumed: count(5),
      phones: Set((0..<results[8].rowCount).compactMap { results[8].string($0, 0) }),
      agenda: (0..<results[7].rowCount).compactMap { results[7].string($0, 0) },
      slots: (0..<results[6].rowCount).map { row in
        (
          results[6].string(row, 0) ?? "", (1...7).map { results[6].int64(row, $0) ?? 0 }
        )
      })
  }

  private static let queries = [
    Statement(
      name: "",
      sql: """
        select ride_id, apns_id, event_id, event, rule, push_type, status, reason, attempts,
          card_event, extract(epoch from finished_at) from ridepulse.ledger order by created_at
        """),
    Statement(name: "", sql: "select event_id, ride_id, event from chaos.events"),
    Statement(name: "", sql: "select token, activity_id from chaos.cards"),
    Statement(name: "", sql: "select coalesce(sum(events), 0) from chaos.steps"),
    Statement(name: "", sql: "select count(*) from ridepulse.rides"),
    Statement(name: "", sql: "select count(*) from ridepulse.events"),
    Statement(
      name: "",
      sql: """
        select rule, sum(due), sum(fired), sum(skipped), sum(missed), sum(capped), sum(expired),
          sum(abs(remainder)) from ridepulse.slots group by rule order by rule
        """),
    Statement(
      name: "",
      sql: """
        select to_jsonb(a) || jsonb_build_object('state', r.state, 'events', (
          select jsonb_agg(e) from ridepulse.events e where e.ride_id = a.ride_id))
        from ridepulse.agenda a left join ridepulse.rides r on r.id = a.ride_id order by a.ride_id
        """),
    Statement(
      name: "",
      sql: """
        select d.token from ridepulse.devices d
        join ridepulse.rides r on d.owner_id in (r.customer_id, r.driver_id)
        where d.disabled_at is null
        """),
  ]

  private static func rows(_ result: QueryResult) -> [LedgerRow] {
    (0..<result.rowCount).map { row in
      LedgerRow(
        ride: result.string(row, 0) ?? "", id: result.string(row, 1) ?? "",
        eventID: result.int64(row, 2), event: result.string(row, 3) ?? "",
        rule: result.string(row, 4) ?? "", pushType: result.string(row, 5) ?? "",
        status: result.string(row, 6) ?? "", reason: result.string(row, 7),
        attempts: Int(result.int64(row, 8) ?? 0), cardEvent: result.string(row, 9),
        finishedAt: result.double(row, 10) ?? 0)
    }
  }

  /// Writes ledger, diary and agenda beside the simulator's records.
  func keep(in directory: String) throws {
    let ledger = ledger.map { "\(time($0.finishedAt)) \($0.line)" }
    let diary = diary.incidents.map { $0.line(since: start) }
    for (name, lines) in [("ledger.txt", ledger), ("diary.txt", diary), ("agenda.txt", agenda)] {
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
    return "\(time(arrival.at)) connection \(arrival.connection) \(arrival.pushType) "
      + "\(card.isEmpty ? "" : card + " ")of ride \(arrival.ride) to …\(arrival.token.suffix(6)), "
      + "apns-id \(arrival.id), answered \(arrival.status)\(fault)"
  }

  /// Sleeps of nodes that ended no more than a moment before.
  func wakings(before time: Double) -> String {
    let recent = diary.incidents.filter { incident in
      (incident.kind == .pause || incident.kind == .longPause)
        && (incident.to - 0.1...incident.to + 2).contains(time)
    }
    if recent.isEmpty { return "" }
    return "; just before: " + recent.map { $0.line(since: start) }.joined(separator: "; ")
  }
}
