import RideCore

/// Whether notifications reach a listener on this way to Postgres, by the means of the service.
package enum ListenProbe {
  /// What came of it.
  package enum Outcome: Hashable, Sendable {
    /// A notification came back.
    case effective
    /// Postgres took LISTEN, and the notification did not come, as behind a pooler.
    case swallowed
    /// Nothing was sent, because the server's NOTIFY queue is not read.
    case queueFull
    /// There was no second connection; the text says why.
    case unreachable(String)
  }

  /// Listens on a connection of its own, and notifies itself through the session.
  ///
  /// It ends within the limit, of which the notification itself is given two seconds.
  ///
  /// - Throws: `PostgresError`, where the session can't notify.
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
