import Base
import Foundation
import PostgresStore
import RideCore

/// Waits after the faults have ended until no work is left.
struct WorkDrain {
  let session: PostgresSession
  let incidents: IncidentLog
  /// Rides that the ledger refused for a while, or that ended a node, which may be parked.
  let refused: Set<String>
  /// The path of the simulator's record.
  let records: String
  private let limit: Duration = .seconds(600)

  init(session: PostgresSession, incidents: IncidentLog, records: String) {
    self.session = session
    self.incidents = incidents
    self.records = records
    refused = Set(
      incidents.incidents.filter { $0.kind == .refusal || $0.kind == .poisonedRide }
        .map(\.detail))
  }

  private static let open = Statement(
    name: "chaos_open",
    sql: """
      select (select count(*) from ridepulse.events),
        (select count(*) from ridepulse.ledger where status = 'pending'),
        (select count(*) from ridepulse.agenda)
      """)
  private static let unpark = Statement(
    name: "chaos_unpark",
    sql: "select ride_id, reason, ridepulse.unpark(ride_id) from ridepulse.parked")
  private static let undisabled = Statement(
    name: "chaos_undisabled",
    sql: """
      select count(*) from ridepulse.devices d join chaos.gone g on g.token = d.token
      where d.token = any ($1::text[]) and d.disabled_at is null and d.registered_at <= g.since
      """)

  /// Keeps both nodes running until every event is consumed, every push has its verdict, the agenda
  /// is empty, and the phones that APNs reported as gone are disabled.
  func wait(for nodes: [Node]) async throws {
    let end = ContinuousClock.now + limit
    var left = "Postgres did not answer"
    while ContinuousClock.now < end {
      var isServing = true
      for node in nodes { isServing = try await node.supervise() && isServing }
      try await unparkAll()
      if let row = try? await session.run([Call(Self.open)])[0] {
        let counts = (0..<3).map { row.int64(0, $0) ?? 0 }
        if isServing, counts.allSatisfy({ $0 == 0 }) { return try await waitForTokens(nodes) }
        left = "\(counts[0]) events, \(counts[1]) pending pushes, \(counts[2]) rides on the agenda"
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    incidents.recordViolation("work is left after \(limit.rideText): \(left)")
  }

  /// Unparks all rides; only those that the ledger refused or that ended a node may be parked.
  private func unparkAll() async throws {
    guard let rows = try? await session.run([Call(Self.unpark)])[0] else { return }
    for row in 0..<rows.rowCount {
      let ride = rows.string(row, 0) ?? ""
      incidents.record(.unpark, from: IncidentLog.now, ride)
      if refused.contains(ride) { continue }
      incidents.recordViolation(
        "\(ride) is parked without a cause: \(rows.string(row, 1) ?? "")")
    }
  }

  /// Waits until all tokens are disabled: a token's outcome may be written some time after its push
  /// has settled.
  private func waitForTokens(_ nodes: [Node]) async throws {
    let gone = Set(try Arrival.read(records).filter { $0.status == 410 }.map(\.token))
    let tokens = PostgresArray.literal(gone.sorted())
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      for node in nodes { try await node.supervise() }
      let rows = try? await session.run([Call(Self.undisabled, [tokens])])
      if rows?[0].int64(0, 0) == 0 { return }
      try await Task.sleep(for: .milliseconds(200))
    }
    // The report lists the remaining ones.
  }
}
