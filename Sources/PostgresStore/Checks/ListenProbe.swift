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
  }

  /// Listens on a connection of its own, and notifies itself through the session.
  ///
  /// It ends within the limit; the notification itself has two seconds of it.
  ///
  /// - Throws: `PostgresError` if the session cannot notify.
  package static func run(
    conninfo: String, session: PostgresSession, node: String, limit: Duration = .seconds(6)
  ) async throws(PostgresError) -> Outcome {
    let (events, feed) = AsyncStream.makeStream(of: SessionEvent.self)
    let listener = try WakeListener(
      conninfo: conninfo, node: node, log: Log { _, _, _ in }, onEvent: { feed.yield($0) })
    let outcome: Result<Outcome, PostgresError>
    do throws(PostgresError) {
      outcome = .success(try await wait(for: events, feed, listener, session, limit))
    } catch {
      outcome = .failure(error)
    }
    await listener.close()
    return try outcome.get()
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
