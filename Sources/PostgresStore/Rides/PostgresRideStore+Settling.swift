import Foundation
package import RideCore

// Writing the outcomes of claimed rides and releasing them.
extension PostgresRideStore {
  /// Records what claimed rides are about to do, and keeps their leases.
  ///
  /// - Returns: The rides whose lease has ended or passed to another node.
  /// - Throws: `StoreFailure`; the same memos may be written again.
  package func journal(_ memos: [ClaimedMemo]) async throws -> [RideID] {
    let encoder = JSONEncoder()
    let stored = try memos.map { (claim: $0.claim, memo: try SettleRows.json($0.memo, encoder)) }
    let results = try await run(
      claims,
      [Call(LeaseStatements.journal, [node] + LeaseStatements.memos.arrays(stored))])
    var missing = Set(memos.map(\.claim.rideID))
    for row in 0..<results[0].rowCount {
      if let ride = results[0].string(row, 0) { missing.remove(RideID(ride)) }
    }
    return missing.sorted()
  }

  /// Writes the outcome of claimed rides and releases them.
  ///
  /// - Throws: `StoreFailure`; the same settlements may be given again.
  package func settle(_ batch: [ClaimedSettlement]) async throws -> SettleResult {
    let results = try await run(settlements, try settling(batch))
    let written = Self.fences(results[1])
    let missing = batch.map(\.claim).filter { !written.contains($0.fence) }
    if missing.isEmpty { return SettleResult() }
    // A claim that is not known to be lost is reported as locked, so that it is tried again.
    let rows = try? await run(
      settlements,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.heldFences, [node] + Self.parameters(missing)),
      ])
    guard let held = rows.map({ Self.fences($0[1]) }) else { return SettleResult(locked: missing) }
    return SettleResult(
      lost: missing.filter { !held.contains($0.fence) },
      locked: missing.filter { held.contains($0.fence) })
  }

  private func settling(_ batch: [ClaimedSettlement]) throws -> [Call] {
    [
      Call(SettleStatements.writeSettings),
      Call(SettleStatements.settle, try SettleRows.parameters(node: node, batch)),
    ]
  }

  /// Settles two rides that do not exist, one live and one over, and rolls the transaction back.
  ///
  /// - Throws: `StoreFailure` if no settlement can succeed now.
  package func checkSettling() async throws {
    let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    let batch = [false, true].map { isOver in
      let ride: RideID = "ridepulse-check-\(isOver ? "over" : "live")-\(node)"
      return ClaimedSettlement(
        claim: RideClaim(rideID: ride, fence: isOver ? -1 : -2),
        settlement: .synthetic(ride: ride, now: now, isOver: isOver))
    }
    let results = try await run(
      settlements,
      [
        Call(LeaseStatements.begin),
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.openCheck, [node] + Self.parameters(batch.map(\.claim))),
      ] + (try settling(batch)) + [Call(LeaseStatements.immediate), Call(LeaseStatements.rollback)])
    if Self.fences(results[4]).count != batch.count {
      throw StoreFailure(.refused, "a made-up ride was not settled")
    }
  }

  /// Extends the leases of claimed rides.
  ///
  /// - Throws: `StoreFailure`; the leases may be unchanged.
  package func renew(_ rides: [RideClaim]) async throws -> [RideClaim] {
    let parameters = [node] + Self.parameters(rides)
    let results = try await run(
      claims,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.renew, parameters + [String(lease.microseconds / 1000)]),
        Call(LeaseStatements.heldFences, parameters),
      ])
    let held = Self.fences(results[2])
    return rides.filter { !held.contains($0.fence) }
  }

  /// Parks a ride until `ridepulse.unpark` is called for it.
  ///
  /// - Throws: `StoreFailure`; the ride is held as before.
  package func park(_ ride: RideClaim, reason: String) async throws {
    _ = try await run(
      settlements,
      [
        Call(SettleStatements.writeSettings),
        Call(
          LeaseStatements.park,
          [node, ride.rideID.text, String(ride.fence), Self.clipped(reason)]),
      ])
  }

  /// Releases claimed rides unchanged.
  ///
  /// - Throws: `StoreFailure`; they fall due again when their lease ends.
  package func release(_ rides: [RideClaim]) async throws {
    try await release(rides, over: claims, timeout: .seconds(10))
  }

  func release(
    _ rides: [RideClaim], over session: PostgresSession, timeout: Duration
  ) async throws {
    _ = try await run(
      session,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.release, [node] + LeaseStatements.takenClaims.arrays(rides)),
      ], timeout: timeout)
  }

  private static func parameters(_ claims: [RideClaim]) -> [String?] {
    LeaseStatements.claims.arrays(claims)
  }

  private static func fences(_ rows: QueryResult) -> Set<Int64> {
    Set((0..<rows.rowCount).compactMap { rows.int64($0, 0) })
  }
}
