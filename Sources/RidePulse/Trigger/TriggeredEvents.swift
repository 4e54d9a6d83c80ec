import Base
import PostgresStore
import RideCore

/// Reports events that `trigger` emitted and, if asked, waits for their verdicts.
struct TriggeredEvents {
  let event: String
  let queries: RideQueries
  let format: OutputFormat

  func follow(
    _ emitted: [(event: Int64, ride: RideID)], waits: Bool
  ) async throws -> ExitStatus {
    for (id, ride) in emitted {
      switch format {
      case .table: Terminal.print("event \(id): \(event) of ride \(Escape.line(ride.text))")
      case .json: if !waits { Terminal.print(json: .object(members(id, ride))) }
      }
    }
    if !waits { return .done }
    let limit = ContinuousClock.now + .seconds(60)
    var status = ExitStatus.done
    for (id, ride) in emitted {
      let deliveries = try await deliveries(of: id, ride, until: limit)
      report(id, ride, deliveries)
      guard let deliveries else {
        throw CommandFailure(
          "no verdict for event \(id) within 60 s: is ridepulse serve running?")
      }
      if deliveries.contains(where: { $0.status != "accepted" && $0.status != "suppressed" }) {
        status = .failed
      }
    }
    return status
  }

  private func members(_ id: Int64, _ ride: RideID) -> [String: JSONValue] {
    ["event": .string(event), "event_id": .integer(id), "ride_id": .string(ride.text)]
  }

  /// - Parameter deliveries: nil if they are not complete in time.
  private func report(_ id: Int64, _ ride: RideID, _ deliveries: [LedgerRow]?) {
    switch format {
    case .table:
      guard let deliveries else { return }
      for delivery in deliveries { Terminal.print(DryRunReport.line(of: delivery)) }
      if deliveries.isEmpty { Terminal.print("no rule matches it") }
    case .json:
      let rows = deliveries.map { JSONValue.array($0.map { .object($0.decision([:])) }) } ?? .null
      Terminal.print(json: .object(members(id, ride).merging(["deliveries": rows]) { $1 }))
    }
  }

  /// Returns the outcomes of an event; nil if they are not complete in time.
  private func deliveries(
    of id: Int64, _ ride: RideID, until limit: ContinuousClock.Instant
  ) async throws -> [LedgerRow]? {
    while true {
      let (deliveries, isComplete) = try await queries.deliveries(of: id, ride: ride)
      if isComplete { return deliveries }
      if ContinuousClock.now > limit { return nil }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
