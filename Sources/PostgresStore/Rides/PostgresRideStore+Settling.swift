import Base
import Foundation
package import RideCore
import Synchronization

// Writing the outcomes of claimed rides and releasing them.
extension PostgresRideStore {
  /// Records what claimed rides are about to do, and keeps their leases.
  ///
  /// - Returns: The rides whose lease has ended or passed to another node.
  /// - Throws: `StoreFailure`; the same memos may be written again.
  package func journal(_ memos: [ClaimedMemo]) async throws -> [RideID] {
    let stored = memos.map { (claim: $0.claim, memo: SettleRows.json($0.memo)) }
    let results = try await run(
      claims,
      [Call(LeaseStatements.journal, LeaseStatements.memos.arrays(stored))])
    return Self.rides(of: memos.map(\.claim), missingIn: results[0])
  }

  /// Grants permits to claimed rides before they send.
  ///
  /// - Throws: `StoreFailure`; the same requests may be given again.
  package func grant(_ rides: [ClaimedRequests]) async throws -> GrantResult {
    let results = try await run(claims, PermitStatements.granting(rides))
    return PermitStatements.result(results[1])
  }

  /// Records that rides of lost claims were read, and are decided now.
  ///
  /// - Throws: `StoreFailure`; the same rides may be given again.
  package func recordDeciding(_ rides: [RideClaim]) async throws {
    _ = try await run(
      claims,
      [
        Call(SettleStatements.writeSettings),
        Call(LostClaimStatements.recordDeciding, Self.parameters(rides)),
      ])
  }

  /// Records that rides of lost claims were decided, and extends their leases.
  ///
  /// - Returns: The rides whose lease has passed to another node.
  /// - Throws: `StoreFailure`; the same rides may be given again.
  package func recordDecided(_ rides: [RideClaim]) async throws -> [RideID] {
    let results = try await run(
      claims,
      [
        Call(SettleStatements.writeSettings),
        Call(
          LostClaimStatements.recordDecided,
          Self.parameters(rides) + [String(lease.microseconds / 1000)]),
      ])
    return Self.rides(of: rides, missingIn: results[1])
  }

  private static func rides(of claims: [RideClaim], missingIn result: QueryResult) -> [RideID] {
    var missing = Set(claims.map(\.rideID))
    for row in 0..<result.rowCount {
      if let ride = result.string(row, 0) { missing.remove(RideID(ride)) }
    }
    return missing.sorted()
  }

  /// Writes the outcome of claimed rides and releases them.
  ///
  /// - Throws: `StoreFailure`; the same settlements may be given again.
  package func settle(_ batch: [ClaimedSettlement]) async throws -> SettleResult {
    var result = SettleResult()
    for round in Self.rounds(batch) {
      let part = try await settleOnce(round)
      result.lost += part.lost
      result.locked += part.locked
    }
    return result
  }

  /// Divides a batch so that no part has a ride twice: the rows of a settlement are matched with
  /// their claim by the ride.
  ///
  /// This node may have claimed a ride again after its lease ended or Postgres failed over, before
  /// its first claim is settled.
  static func rounds(_ batch: [ClaimedSettlement]) -> [[ClaimedSettlement]] {
    var rides: Set<RideID> = []
    var again: [ClaimedSettlement] = []
    let first = batch.filter { settlement in
      if rides.insert(settlement.claim.rideID).inserted { return true }
      again.append(settlement)
      return false
    }
    if first.isEmpty { return [] }
    return [first] + rounds(again)
  }

  private func settleOnce(_ batch: [ClaimedSettlement]) async throws -> SettleResult {
    let before =
      PermitStatements.settling(batch) + RecordStatements.recording(batch)
      + OwnersReceiptStatements.recording(batch)
    let results: [QueryResult]
    do {
      results = try await send(settlements, settling(batch, after: before))
    } catch let error as PostgresError where error.server?.sqlState == "23505" {
      results = try await run(settlements, settling(batch, after: before, anyRowMayExist: true))
    } catch let error as PostgresError {
      throw error.failure
    }
    let written = Self.keys(results[before.count + 1])
    let missing = batch.map(\.claim).filter { !written.contains(ClaimKey($0)) }
    if missing.isEmpty { return SettleResult() }
    // A claim that is not known to be lost is reported as locked, so that it is tried again.
    let rows = try? await run(
      settlements,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.heldClaims, Self.parameters(missing)),
      ])
    guard let held = rows.map({ Self.keys($0[1]) }) else { return SettleResult(locked: missing) }
    return SettleResult(
      lost: missing.filter { !held.contains(ClaimKey($0)) },
      locked: missing.filter { held.contains(ClaimKey($0)) })
  }

  /// - Parameter before: calls that need the rides as they are held before the settlement.
  private func settling(
    _ batch: [ClaimedSettlement], after before: [Call] = [], anyRowMayExist: Bool = false
  ) -> [Call] {
    [Call(SettleStatements.writeSettings)] + before + [
      Call(
        SettleRows.emitsEvents(batch) ? SettleStatements.settleWithEvents : SettleStatements.settle,
        SettleRows.parameters(node: node, batch, anyRowMayExist: anyRowMayExist))
    ]
  }

  /// Settles two rides that do not exist, one live and one over, and rolls the transaction back.
  ///
  /// - Throws: `StoreFailure` if no settlement can succeed now.
  package func checkSettling() async throws {
    let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    let batch = [false, true].map { isOver in
      let ride: RideID = "ridepulse-check-\(isOver ? "over" : "live")-\(node)"
      var claim = RideClaim(rideID: ride, fence: isOver ? -1 : -2)
      claim.holder = node
      claim.databaseIdentity = databaseIdentity
      return ClaimedSettlement(
        claim: claim,
        settlement: .synthetic(ride: ride, now: now, isOver: isOver))
    }
    let before = OwnersReceiptStatements.recording(batch)
    let results = try await run(
      settlements,
      [
        Call(LeaseStatements.begin),
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.openCheck, Self.parameters(batch.map(\.claim))),
      ] + settling(batch, after: before) + [
        Call(LeaseStatements.immediate), Call(LeaseStatements.rollback),
      ])
    if Self.keys(results[4 + before.count]).count != batch.count {
      throw StoreFailure(.refused, "a made-up ride was not settled")
    }
  }

  /// Extends the leases of claimed rides.
  ///
  /// - Throws: `StoreFailure`; the leases may be unchanged.
  package func renew(_ rides: [RideClaim]) async throws -> [RideClaim] {
    let parameters = Self.parameters(rides)
    let results = try await run(
      claims,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.renew, parameters + [String(lease.microseconds / 1000)]),
        Call(LeaseStatements.heldClaims, parameters),
      ])
    let held = Self.keys(results[2])
    return rides.filter { !held.contains(ClaimKey($0)) }
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
          [ride.holder, ride.rideID.text, String(ride.fence), Self.clipped(reason)]),
      ])
  }

  /// Releases claimed rides unchanged.
  ///
  /// - Throws: `StoreFailure`; they fall due again when their lease ends.
  package func release(_ rides: [RideClaim]) async throws {
    try await release(rides, over: claims, timeout: .seconds(10))
    lowWaterMark.withLock { $0.rewind() }
  }

  func release(
    _ rides: [RideClaim], over session: PostgresSession, timeout: Duration
  ) async throws {
    _ = try await run(
      session,
      [
        Call(SettleStatements.writeSettings),
        Call(LeaseStatements.release, LeaseStatements.takenClaims.arrays(rides)),
      ], timeout: timeout)
  }

  private static func parameters(_ claims: [RideClaim]) -> [String?] {
    LeaseStatements.claims.arrays(claims)
  }

  /// What identifies a claim: a fence alone may be given out again after a failover.
  private struct ClaimKey: Hashable {
    let fence: Int64
    let holder: String

    init(_ claim: RideClaim) {
      fence = claim.fence
      holder = claim.holder
    }

    init?(_ rows: QueryResult, _ row: Int) {
      guard let fence = rows.int64(row, 0), let holder = rows.string(row, 1) else { return nil }
      self.fence = fence
      self.holder = holder
    }
  }

  private static func keys(_ rows: QueryResult) -> Set<ClaimKey> {
    Set((0..<rows.rowCount).compactMap { ClaimKey(rows, $0) })
  }
}
