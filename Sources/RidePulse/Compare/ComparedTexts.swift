import Base
import PostgresStore
import RideCore
import Timeline

/// Compares texts as far as they are known: those of recorded rides, which are decided again.
struct ComparedTexts {
  let session: PostgresSession
  /// The rules at hand; nil if they can't be used.
  let configuration: EngineConfiguration?
  /// The most rides that are decided again.
  let limit: Int

  /// How long before its push a ride may have begun.
  private static let lead: Duration = .seconds(6 * 3600)
  private static let tail: Duration = .seconds(60)
  /// How many rides of the ledger are read at once.
  private static let chunk = 200

  /// What was read of recorded rides.
  private struct Recorded {
    var passes: [RideID: [RecordedRide.StoredPass]] = [:]
    var beyondLimit: Set<RideID> = []
  }

  /// Returns an outcome for each pair.
  func outcomes(
    of pairs: [SenderComparison.Pair], _ old: [OldPush], _ new: [NewPush],
    in range: Range<Timestamp>
  ) async throws -> [TextOutcome] {
    var outcomes = pairs.map { first(old[$0.old], new[$0.new]) }
    guard let configuration else { return outcomes }
    // Those without another outcome yet, by ride.
    let open = Dictionary(
      grouping: outcomes.indices.filter { outcomes[$0] == .unknown(.notRecorded) }
    ) { new[pairs[$0].new].ride }
    if open.isEmpty { return outcomes }
    let recorded = try await self.recorded(of: Set(open.keys), in: range)
    for ride in recorded.beyondLimit {
      for index in open[ride] ?? [] { outcomes[index] = .unknown(.beyondLimit) }
    }
    let uncertain = LedgerEntry.Status.uncertain.rawValue
    let rides = recorded.passes.keys.sorted { $0.text < $1.text }
    for start in stride(from: 0, to: rides.count, by: Self.chunk) {
      let chunk = Array(rides[start..<min(start + Self.chunk, rides.count)])
      let rows = Dictionary(
        grouping: try await LedgerMessages(session: session).accepted(of: chunk), by: \.rideID)
      for ride in chunk {
        var again = RecordedRide(ride, recorded.passes[ride] ?? [], by: configuration)
        for index in open[ride] ?? [] {
          guard let text = old[pairs[index].old].text else { continue }
          let push = new[pairs[index].new]
          let own = (rows[ride] ?? []).filter { push.isRow($0) }
          let pushes = own.compactMap { AcceptedPush($0) }
          if pushes.isEmpty, own.contains(where: { $0.status == uncertain }) {
            outcomes[index] = .unknown(.uncertain)
            continue
          }
          outcomes[index] = again.outcome(of: text, pushes)
        }
      }
    }
    return outcomes
  }

  /// Returns what is known without the ride's recorded passes.
  private func first(_ old: OldPush, _ new: NewPush) -> TextOutcome {
    if old.text == nil { return .notLogged }
    if new.outcome == .covered { return .unknown(.card) }
    if configuration == nil { return .unknown(.noRules) }
    return .unknown(new.isOfTheseRules ? .notRecorded : .otherRules)
  }

  private func recorded(
    of rides: Set<RideID>, in range: Range<Timestamp>
  ) async throws -> Recorded {
    var recorded = Recorded()
    try await RecordedPasses(session: session).read(
      from: range.lowerBound - Self.lead, to: range.upperBound + Self.tail
    ) { rows in
      for row in rows where rides.contains(row.ride) {
        if recorded.passes[row.ride] == nil, recorded.passes.count >= limit {
          recorded.beyondLimit.insert(row.ride)
          continue
        }
        recorded.passes[row.ride, default: []].append(
          RecordedRide.StoredPass(fence: row.fence, json: row.pass))
      }
    }
    return recorded
  }
}

extension NewPush {
  /// Whether a row is one of this push's phones.
  fileprivate func isRow(_ row: LedgerRow) -> Bool {
    row.rule == rule && row.app == app.rawValue && row.ownerID == person && row.event == event
      && row.occurredAt == eventAt
  }
}
