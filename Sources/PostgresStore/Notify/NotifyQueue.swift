/// How full the server's NOTIFY queue is, and which session may keep it from being emptied.
package struct NotifyQueue: Hashable, Sendable {
  /// A session that may hold the queue back.
  ///
  /// A listener reads the queue only between its transactions, and only while its client reads what
  /// it is sent.
  package struct Holder: Hashable, Sendable {
    /// The process ID of the session.
    package var processID: Int32
    /// `application_name`.
    package var application: String
    /// The database; it may be any, because the server has a single queue.
    package var database: String
    /// Such as `idle in transaction`.
    package var state: String
    /// The time since its transaction began.
    package var age: Duration

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

  /// The usage from which on nothing is notified, here and in `ridepulse.wake()`.
  ///
  /// A queue that is read is empty within moments, so at 1 % (80 MB by default) it is not being
  /// read. The other 99 % remain before the stalled listener makes the app's commits fail.
  package static let limit = 0.01

  /// The used part, from 0 to 1.
  package var usage: Double
  /// The session with the oldest transaction, of those that this role can see.
  package var holder: Holder?

  package init(usage: Double, holder: Holder? = nil) {
    self.usage = usage
    self.holder = holder
  }

  /// Whether the usage is at the limit from which on nothing is notified.
  package var isFull: Bool { usage >= Self.limit }

  /// The usage in percent, such as `1.3 %`.
  package var percentage: String {
    let tenths = Int((min(max(usage, 0), 1) * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }
}

extension NotifyQueue {
  /// Names the oldest transaction of all, because PostgreSQL does not show which sessions listen.
  ///
  /// A session whose client does not read is blocked while it sends a notification.
  private static let statement = Statement(
    name: "notify_queue",
    sql: """
      select pg_notification_queue_usage(), h.*
      from (values (1)) one left join lateral (
        select pid, application_name, datname, state,
          \(SQLTime.micros(interval: "clock_timestamp() - coalesce(xact_start, state_change)"))
        from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'
          and (xact_start is not null or wait_event = 'ClientWrite')
        order by coalesce(xact_start, state_change) limit 1) h on true
      """)

  /// Reads the queue's state; a role that is not a member of `pg_monitor` sees only its own
  /// sessions.
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
