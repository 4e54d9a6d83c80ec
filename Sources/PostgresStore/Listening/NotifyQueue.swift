/// How full the server's NOTIFY queue is, and who may keep it from being emptied.
package struct NotifyQueue: Hashable, Sendable {
  /// A session that may hold the queue back: a listener reads it only between its transactions, and
  /// only as long as its client takes what it is sent.
  package struct Holder: Hashable, Sendable {
    /// The session's process.
    package var processID: Int32
    /// `application_name`.
    package var application: String
    /// The database, of which any counts: the queue is one for all of the server.
    package var database: String
    /// Such as `idle in transaction`.
    package var state: String
    /// Since its transaction began.
    package var age: Duration

    /// A session that may hold the queue back.
    package init(
      processID: Int32, application: String, database: String, state: String, age: Duration
    ) {
      self.processID = processID
      self.application = application
      self.database = database
      self.state = state
      self.age = age
    }
  }

  /// From here on nothing is notified, as in `ridepulse.wake()`: a queue that is read is empty within
  /// moments, so 1 % (80 MB by default) is one that is not. The other 99 % stay between the listener
  /// that does not read and the commits of the app.
  package static let limit = 0.01

  /// The part that is used, from 0 to 1.
  package var usage: Double
  /// Of the sessions that this role may see the one with the oldest transaction.
  package var holder: Holder?

  /// A queue.
  package init(usage: Double, holder: Holder? = nil) {
    self.usage = usage
    self.holder = holder
  }

  /// It is used to a part from which on nothing is notified.
  package var isFull: Bool { usage >= Self.limit }

  /// The usage in percent, such as `1.3 %`.
  package var percentage: String {
    let tenths = Int((min(max(usage, 0), 1) * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }
}

extension NotifyQueue {
  /// Postgres does not show who listens, so the oldest transaction of all is named. A session whose
  /// client does not read is stuck while it hands over a notification.
  private static let statement = Statement(
    name: "notify_queue",
    sql: """
      select pg_notification_queue_usage(), h.*
      from (values (1)) one left join lateral (
        select pid, application_name, datname, state,
          (extract(epoch from clock_timestamp() - coalesce(xact_start, state_change))
            * 1000000)::bigint
        from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'
          and (xact_start is not null or wait_event = 'ClientWrite')
        order by coalesce(xact_start, state_change) limit 1) h on true
      """)

  /// Reads it; a role that is no member of `pg_monitor` sees no sessions but its own.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> NotifyQueue {
    let row = try await session.run([Call(statement)])[0]
    var queue = NotifyQueue(usage: row.double(0, 0) ?? 0)
    if let processID = row.int64(0, 1).flatMap({ Int32(exactly: $0) }) {
      queue.holder = Holder(
        processID: processID, application: row.string(0, 2) ?? "",
        database: row.string(0, 3) ?? "", state: row.string(0, 4) ?? "",
        age: .microseconds(row.int64(0, 5) ?? 0))
    }
    return queue
  }
}
