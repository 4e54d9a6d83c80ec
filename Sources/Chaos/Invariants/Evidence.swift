import Foundation
import PostgresStore
import RideCore

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
    let platform: Platform
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
  /// The IDs of the producers' steps that the database has.
  let steps: Set<String>

  /// Writes the ledger, the incident log and the agenda to the run's directory.
  func write(to directory: String) throws {
    let ledger = ledger.map { "\(time($0.finishedAt)) \($0.line)" }
    let incidents = incidents.incidents.map { $0.line(since: start) }
    for (name, lines) in [
      ("ledger.txt", ledger), ("incidents.txt", incidents), ("agenda.txt", agenda),
    ] {
      try Data((lines.joined(separator: "\n") + "\n").utf8)
        .write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
  }

  /// Returns a time as seconds since the start of the run.
  func time(_ seconds: Double) -> String { String(format: "%.2f s", seconds - start) }

  /// Returns the card that a push is for; nil if no app has registered it.
  func card(of arrival: Arrival) -> String? { arrival.card ?? cards[arrival.token] }

  /// Whether the phone of an Android card is registered: `PHONE.RIDE`.
  func hasPhone(_ card: String) -> Bool {
    let id = card.split(separator: ".").first.flatMap { Int64($0) }
    return id.flatMap { phones[$0] }.map { $0.disabledReason == nil } ?? false
  }

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
  func pauses(endedBefore time: Double) -> String {
    let recent = incidents.incidents.filter { incident in
      (incident.kind == .pause || incident.kind == .longPause)
        && (incident.to - 0.1...incident.to + 2).contains(time)
    }
    if recent.isEmpty { return "" }
    return "; just before: " + recent.map { $0.line(since: start) }.joined(separator: "; ")
  }
}

extension Evidence {
  static func read(
    _ session: PostgresSession, records: String, fcmRecords: String, incidents: IncidentLog,
    start: Double
  ) async throws -> Evidence {
    func rows(_ sql: String) async throws -> QueryResult {
      try await session.run([Call(Statement(name: "", sql: sql))], timeout: .seconds(120))[0]
    }
    func count(_ sql: String) async throws -> Int {
      Int(try await rows(sql).int64(0, 0) ?? 0)
    }
    func texts(_ sql: String) async throws -> [String] {
      let rows = try await rows(sql)
      return (0..<rows.rowCount).compactMap { rows.string($0, 0) }
    }
    return Evidence(
      start: start, incidents: incidents,
      arrivals: try Arrival.read(records) + Arrival.readFCM(fcmRecords),
      ledger: ledger(try await rows(ledgerQuery)), events: events(try await rows(eventQuery)),
      stepped: try await count("select coalesce(sum(events), 0) from chaos.steps"),
      cards: cards(try await rows("select token, activity_id from chaos.cards")),
      rides: try await count("select count(*) from ridepulse.rides"),
      unconsumed: try await count("select count(*) from ridepulse.events"),
      currentTokens: Set(try await texts(currentTokenQuery)),
      phones: phones(try await rows(phoneQuery)),
      enabledTokens: Set(try await texts(enabledTokenQuery)),
      strayPartitions: try await texts(strayPartitionQuery),
      agenda: try await texts(agendaQuery), slots: slots(try await rows(slotQuery)),
      steps: Set(try await texts("select id from chaos.steps")))
  }

  private static let ledgerQuery = """
    select ride_id, apns_id, event_id, event, rule, push_type, status, reason, attempts,
      card_event, extract(epoch from occurred_at), extract(epoch from finished_at), app, device_id
    from ridepulse.ledger order by created_at
    """
  private static let eventQuery = "select event_id, ride_id, event, driver_id from chaos.events"
  private static let phoneQuery =
    "select id, app, owner_id, token, disabled_reason, platform from ridepulse.devices"
  private static let slotQuery = """
    select rule, sum(due), sum(fired), sum(skipped), sum(missed), sum(capped), sum(expired),
      sum(abs(remainder)) from ridepulse.slots group by rule order by rule
    """
  private static let agendaQuery = """
    select to_jsonb(a) || jsonb_build_object('state', r.state, 'events', (
      select jsonb_agg(e) from ridepulse.events e where e.ride_id = a.ride_id))
    from ridepulse.agenda a left join ridepulse.rides r on r.id = a.ride_id order by a.ride_id
    """
  private static let currentTokenQuery = """
    select d.token from ridepulse.devices d
    join ridepulse.rides r on d.owner_id in (r.customer_id, r.driver_id)
    where d.disabled_at is null
    """
  /// Selects tokens that APNs reported as gone and whose phone or card is still enabled.
  ///
  /// After the clock was set back, a registration may be dated after a verdict that followed it,
  /// and a later registration overrides APNs' answer: such rows are excluded.
  private static let enabledTokenQuery = """
    select g.token from chaos.gone g
    where exists (select from ridepulse.devices d
        where d.token = g.token and d.disabled_at is null and d.registered_at <= g.since
        and not exists (select from ridepulse.ledger l where l.device_id = d.id
          and l.reason = 'Unregistered' and l.finished_at < d.registered_at))
      or exists (select from ridepulse.live_activities a
        where a.token = g.token and a.ended_at is null and a.registered_at <= g.since
        and not exists (select from ridepulse.ledger l where l.ride_id = a.ride_id
          and l.app = a.app and l.push_type = 'liveactivity'
          and l.reason = 'Unregistered' and l.finished_at < a.registered_at))
    """
  private static let strayPartitionQuery = """
    select c.oid::regclass::text from pg_class c
    where exists (select from pg_tablespace where spcname = 'chaos_ledger')
      and c.reltablespace <> (select oid from pg_tablespace where spcname = 'chaos_ledger')
      and (c.oid in (select relid from pg_partition_tree('ridepulse.ledger') where isleaf)
        or c.oid in (select i.indexrelid from pg_index i join pg_partition_tree('ridepulse.ledger') t
          on t.relid = i.indrelid and t.isleaf))
    order by 1
    """

  private static func ledger(_ result: QueryResult) -> [LedgerRow] {
    (0..<result.rowCount).map { row in
      LedgerRow(
        ride: result.string(row, 0) ?? "", id: result.string(row, 1) ?? "",
        eventID: result.int64(row, 2), event: result.string(row, 3) ?? "",
        rule: result.string(row, 4) ?? "", pushType: result.string(row, 5) ?? "",
        status: result.string(row, 6) ?? "", reason: result.string(row, 7),
        attempts: Int(result.int64(row, 8) ?? 0), cardEvent: result.string(row, 9),
        occurredAt: result.double(row, 10) ?? 0, finishedAt: result.double(row, 11) ?? 0,
        app: result.string(row, 12) ?? "", phone: result.int64(row, 13))
    }
  }

  private static func events(_ result: QueryResult) -> [Int64: Event] {
    var events: [Int64: Event] = [:]
    for row in 0..<result.rowCount {
      let id = result.int64(row, 0) ?? 0
      events[id] = Event(
        id: id, ride: result.string(row, 1) ?? "", name: result.string(row, 2) ?? "",
        driver: result.string(row, 3))
    }
    return events
  }

  private static func phones(_ result: QueryResult) -> [Int64: Phone] {
    var phones: [Int64: Phone] = [:]
    for row in 0..<result.rowCount {
      phones[result.int64(row, 0) ?? 0] = Phone(
        app: result.string(row, 1) ?? "", owner: result.string(row, 2) ?? "",
        token: result.string(row, 3) ?? "", disabledReason: result.string(row, 4),
        platform: result.string(row, 5).flatMap(Platform.init(rawValue:)) ?? .ios)
    }
    return phones
  }

  private static func cards(_ result: QueryResult) -> [String: String] {
    var cards: [String: String] = [:]
    for row in 0..<result.rowCount { cards[result.string(row, 0) ?? ""] = result.string(row, 1) }
    return cards
  }

  private static func slots(_ result: QueryResult) -> [(rule: String, counts: [Int64])] {
    (0..<result.rowCount).map { row in
      (result.string(row, 0) ?? "", (1...7).map { result.int64(row, $0) ?? 0 })
    }
  }
}
