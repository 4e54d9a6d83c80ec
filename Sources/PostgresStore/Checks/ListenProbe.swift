import Base
import RideCore

/// Checks whether notifications reach a listener over this route to PostgreSQL, with the same code
/// as the service.
package enum ListenProbe {
  /// The result of the probe.
  package enum Outcome: Hashable, Sendable {
    /// A notification came back.
    case effective
    /// PostgreSQL accepted LISTEN, and the notification did not arrive, as behind a pooler.
    case swallowed
    /// Nothing was sent, because the server's NOTIFY queue is not being read.
    case queueFull
    /// There was no second connection; the text is the reason.
    case unreachable(String)
    /// The listener's own address leads to another database; the text is how they differ.
    case otherDatabase(String)
  }

  /// Listens on a connection of its own, and notifies itself through the session.
  ///
  /// It ends within the limit, or twice that with an address of its own; the notification itself has
  /// two seconds of it.
  ///
  /// - Parameter address: Where to listen; nil if it is where the session is.
  /// - Throws: `PostgresError` if the session cannot notify.
  package static func run(
    conninfo: String, address: String? = nil, session: PostgresSession, node: String,
    limit: Duration = .seconds(6)
  ) async throws(PostgresError) -> Outcome {
    if let address, let other = try? await otherDatabase(address, than: session) {
      return .otherDatabase(other)
    }
    let (events, feed) = AsyncStream.makeStream(of: SessionEvent.self)
    let listener = try WakeListener(
      conninfo: address ?? conninfo, schema: session.schema, node: node, log: Log { _, _, _ in },
      onEvent: { feed.yield($0) })
    let outcome: Result<Outcome, PostgresError>
    do throws(PostgresError) {
      outcome = .success(try await wait(for: events, feed, listener, session, limit))
    } catch {
      outcome = .failure(error)
    }
    await listener.close()
    return try outcome.get()
  }

  private static let identity = Statement(
    name: "database_identity",
    sql: """
      select to_hex(s.system_identifier), d.oid::text
      from pg_control_system() s, pg_database d where d.datname = current_database()
      """)

  /// Returns how the database behind an address differs from that of a session; nil if it is the
  /// same one.
  ///
  /// - Throws: `PostgresError` if one of them can't be asked.
  package static func otherDatabase(
    _ address: String, than session: PostgresSession
  ) async throws(PostgresError) -> String? {
    let other = try PostgresSession(conninfo: address, applicationName: "ridepulse listen")
    // It is asked once, and a server that stopped responding must not delay the caller.
    defer { Task { await other.close() } }
    try await other.connect(timeout: .seconds(4))
    let (ours, theirs) = (try await place(session), try await place(other))
    return ours == theirs ? nil : "\(theirs), and the other sessions are in \(ours)"
  }

  private static func place(
    _ session: PostgresSession
  ) async throws(PostgresError) -> String {
    let row = try await session.run([Call(identity)], timeout: .seconds(2))[0]
    return "OID \(row.string(0, 1) ?? "") of server \(row.string(0, 0) ?? "")"
  }

  private static func wait(
    for events: AsyncStream<SessionEvent>, _ feed: AsyncStream<SessionEvent>.Continuation,
    _ listener: WakeListener, _ session: PostgresSession, _ limit: Duration
  ) async throws(PostgresError) -> Outcome {
    end(feed, after: limit)
    var isSent = false
    for await event in events {
      switch event {
      case .connected:
        guard let wasSent = try await listener.check(through: session) else { continue }
        if !wasSent { return .queueFull }
        isSent = true
        end(feed, after: NotifyHealthCheck.limit)
      case .notification where listener.isHealthy: return .effective
      case .notification, .disconnected: continue
      case .unreachable(let reason):
        return .unreachable("\(PostgresError(.unreachable(reason: reason)))")
      }
    }
    return isSent ? .swallowed : .unreachable("no second connection in time")
  }

  private static func end(
    _ feed: AsyncStream<SessionEvent>.Continuation, after limit: Duration
  ) {
    Task {
      try? await Task.sleep(for: limit)
      feed.finish()
    }
  }
}
