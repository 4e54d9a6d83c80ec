package import RideCore
import Synchronization

/// The store of the legacy gateway: events, phones and frames in PostgreSQL.
package final class PostgresLegacyPushStore: LegacyPushStore {
  private let app: App
  private let environment: APNsEnvironment?
  private let session: PostgresSession
  private let swept = Mutex(ContinuousClock.now)

  /// Uses an open session, which it does not close.
  ///
  /// - Parameter environment: the environment of phones that a frame introduces.
  package init(app: App, environment: APNsEnvironment?, session: PostgresSession) {
    self.app = app
    self.environment = environment
    self.session = session
  }

  /// Commits the frames of senders in one transaction.
  ///
  /// - Throws: `PostgresError`. The same frames may be given again: those already committed are
  ///   repeats.
  package func take(_ frames: [LegacyFrame]) async throws -> [LegacyCommitResult] {
    let pushes = frames.map(\.push)
    let results = try await session.run([
      Call(SettleStatements.hashing),
      Call(
        LegacyStatements.take,
        [
          app.rawValue, environment?.rawValue,
          PostgresArray.literal(frames.map { String($0.sender) }),
          PostgresArray.literal(pushes.map(\.token.hex)),
          PostgresArray.literal(frames.map(\.id.description)),
          PostgresArray.literal(pushes.map(\.eventData)),
        ]),
    ])
    await sweep()
    return (0..<frames.count).map { Self.taking(results[1], $0) }
  }

  private static func taking(_ rows: QueryResult, _ row: Int) -> LegacyCommitResult {
    guard rows.string(row, 0) != "refused" else { return .refused }
    guard let ride = rows.string(row, 1), let id = rows.string(row, 2).flatMap(PushID.init) else {
      return .leftOut
    }
    return .taken(LegacyReceipt(ride: RideID(ride), id: id, isRepeat: rows.bool(row, 3) ?? false))
  }

  /// Runs once a minute; if it fails, the next run deletes more.
  private func sweep() async {
    let isDue = swept.withLock { swept in
      let now = ContinuousClock.now
      guard now - swept > .seconds(60) else { return false }
      swept = now
      return true
    }
    if isDue { _ = try? await session.run([Call(LegacyStatements.sweep)]) }
  }

  /// Returns the outcomes of pushes so far; those without a verdict are left out.
  package func verdicts(on pushes: [LegacyReceipt]) async throws -> [PushID: LegacyVerdict] {
    let rows = try await session.run([
      Call(ClaimStatements.lookups),
      Call(
        LegacyStatements.verdicts,
        [
          PostgresArray.literal(pushes.map(\.ride)),
          PostgresArray.literal(pushes.map(\.id.description)),
        ]),
    ])[1]
    var verdicts: [PushID: LegacyVerdict] = [:]
    for row in 0..<rows.rowCount {
      guard let id = rows.string(row, 0).flatMap(PushID.init) else { continue }
      verdicts[id] = LegacyVerdict(
        status: rows.string(row, 1) ?? "",
        code: rows.string(row, 2).map { LedgerReason.Code(word: $0) })
    }
    return verdicts
  }

  /// Returns at most `limit` phones of an app that were disabled and not reported yet.
  package func disabled(of app: App, limit: Int) async throws -> [DisabledPhone] {
    let rows = try await session.run([
      Call(LegacyStatements.disabled, [app.rawValue, String(limit)])
    ])[0]
    return (0..<rows.rowCount).compactMap { row in
      guard let id = rows.int64(row, 0), let since = rows.int64(row, 2),
        let token = rows.string(row, 1).flatMap({ DeviceToken($0) })
      else { return nil }
      return DisabledPhone(phone: id, token: token, since: Timestamp(microseconds: since))
    }
  }

  /// Stops reporting these phones until they are disabled again.
  package func forget(_ phones: [DisabledPhone]) async throws {
    // A session that has a phone locked must not delay senders' commits over the same session as
    // this.
    _ = try await session.run([
      Call(LockLimit.short),
      Call(
        LegacyStatements.forget,
        [
          PostgresArray.literal(phones.map { String($0.phone) }),
          PostgresArray.literal(phones.map { String($0.since.microseconds) }),
        ]),
    ])
  }
}
