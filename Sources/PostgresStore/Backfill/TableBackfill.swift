import RideCore

/// Copies the live rows of an attached table to rides, without a push. No writer of the table waits
/// for it.
package struct TableBackfill: Sendable {
  /// The number of rows by what was done with them.
  package struct Counts: Hashable, Sendable {
    /// Live rows that had no ride.
    package var inserted: Int64 = 0
    /// Rides that differed from their row.
    package var refreshed: Int64 = 0
    /// Live rides whose row was gone or no longer met the condition.
    package var removed: Int64 = 0
    /// Live rides without a row that stay, because they may not come from the table.
    package var unmatched: Int64 = 0
    /// Live rows that could not be read, which are recorded.
    package var unread: Int64 = 0

    package init() {}
  }

  private struct Row {
    /// The arguments of `ridepulse.backfill_batch`: ride ID, key, version.
    var json: String
  }

  private let session: PostgresSession
  private let table: String
  private let active: String

  /// How long a backfill continues although every batch meets a lock.
  private let patience: Duration

  /// - Parameters:
  ///   - session: One that nothing urgent uses: finding the live rows may take minutes.
  ///   - table: The table as SQL names it.
  ///   - patience: How long it goes on although every batch meets a lock of a writer.
  package init(
    _ session: PostgresSession, table: String, active: Set<String>,
    patience: Duration = .seconds(60)
  ) {
    self.session = session
    self.table = table
    self.active = PostgresArray.literal(active.sorted())
    self.patience = patience
  }

  private static let begin = Statement(
    name: "",
    sql: "select ridepulse.begin_backfill($1::text::regclass, $2::boolean, $3::text[])::text")
  private static let finish = Statement(
    name: "",
    sql: """
      select ridepulse.finish_backfill($1::text::regclass, $2::text::timestamptz, $3::text[])
      """)
  private static let find = Statement(
    name: "",
    sql: """
      select jsonb_build_array(ride_id, key, version)
      from ridepulse.find_live_rows($1::text::regclass, $2::text[])
      """)
  private static let store = Statement(
    name: "backfill_batch",
    sql: """
      select inserted, refreshed, removed, unmatched
      from ridepulse.backfill_batch($1::text::regclass, $2::text[], $3::text::jsonb)
      """)
  private static let recordUnread = Statement(
    name: "",
    sql: "select ridepulse.record_unread_row($1::text::regclass, $2::text::jsonb, $3, $4)")
  /// Classes of errors that concern more than one row: lost connections, locks, limits, the mapping.
  private static let general: Set<String> = [
    "08", "25", "40", "42", "53", "55", "57", "58", "XX",
  ]
  /// A lost batch is repeated by the next backfill, and a writer may wait for its commit.
  private static let asynchronously = Statement(
    name: "backfill_commit", sql: "select set_config('synchronous_commit', 'off', true)")

  /// Copies the live rows; returns nil if another service does so or has done so,
  /// or if the task is cancelled.
  ///
  /// - Parameters:
  ///   - isForced: Whether to copy them although they were copied since the table was attached.
  ///   - onProgress: Called with the number of stored rows and of all rows.
  /// - Throws: `PostgresError`; the batches before it stay. 55P03 if writers keep rows locked.
  package func run(
    isForced: Bool, onProgress: (Int, Int) -> Void = { _, _ in }
  ) async throws(PostgresError) -> Counts? {
    let began = try await session.run([Call(Self.begin, [table, isForced ? "t" : "f", active])])[0]
    guard let version = began.string(0, 0) else { return nil }
    do {
      let counts = try await copy(onProgress)
      if Task.isCancelled { return nil }
      _ = try await session.run([Call(Self.finish, [table, version, active])])
      return counts
    } catch {
      // Otherwise no service would try again until the lease ends.
      _ = try? await session.run([Call(Self.finish, [table, nil, nil])])
      throw error
    }
  }

  private func copy(
    _ onProgress: (Int, Int) -> Void
  ) async throws(PostgresError) -> Counts {
    let found = try await session.run(
      [Call(Self.find, [table, active])], timeout: .seconds(4 * 3600))[0]
    let rows = try (0..<found.rowCount).map { row throws(PostgresError) in
      Row(json: try found.value(row, 0))
    }
    return try await store(rows, onProgress)
  }

  private func store(
    _ rows: [Row], _ onProgress: (Int, Int) -> Void
  ) async throws(PostgresError) -> Counts {
    var counts = Counts()
    var queue = BackfillQueue(rows)
    var stored = 0
    var limit = ContinuousClock.now + patience
    while !queue.isEmpty, !Task.isCancelled {
      let batch = queue.next
      do {
        try await store(batch, &counts)
        queue.accept()
        stored += batch.count
        onProgress(stored, rows.count)
        limit = .now + patience
      } catch  where error.server?.sqlState == "55P03" && ContinuousClock.now < limit {
        queue.refuse()
        try? await Task.sleep(for: .milliseconds(Int.random(in: 20...100)))
      } catch {
        guard let server = error.server, !Self.general.contains(String(server.sqlState.prefix(2)))
        else { throw error }
        // Smaller batches isolate the row that can't be read.
        guard batch.count == 1 else {
          queue.refuse()
          continue
        }
        _ = try await session.run([
          Call(Self.recordUnread, [table, batch[0].json, server.sqlState, server.message])
        ])
        counts.unread += 1
        queue.accept()
      }
    }
    return counts
  }

  private func store(_ batch: [Row], _ counts: inout Counts) async throws(PostgresError) {
    let json = "[" + batch.map(\.json).joined(separator: ",") + "]"
    let result = try await session.run([
      Call(Self.asynchronously), Call(Self.store, [table, active, json]),
    ])[1]
    counts.inserted += try result.value(0, 0)
    counts.refreshed += try result.value(0, 1)
    counts.removed += try result.value(0, 2)
    counts.unmatched += try result.value(0, 3)
  }
}
