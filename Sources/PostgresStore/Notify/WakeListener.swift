package import Base
import RideCore
import Synchronization

/// Receives the notifications that wake a sleeping node, and checks that they arrive.
///
/// It has a session of its own: over one that also runs statements, a pooler may pass a
/// notification by chance.
package final class WakeListener: Sendable {
  private struct State {
    var healthCheck = NotifyHealthCheck()
    var session: PostgresSession?
  }

  private let state = Mutex(State())
  private let channel: String
  private let log: Log
  private let onEvent: @Sendable (SessionEvent) -> Void

  private static let wakeChannel = "ridepulse_wake"
  /// $1 channel, $2 number. Returns whether it was sent, and the usage of the queue before that.
  private static let notifyProbe = Statement(
    name: "notify_probe",
    sql: """
      select case when q.usage < \(NotifyQueue.limit) then pg_notify($1, $2)::text end is not null,
        q.usage
      from (select pg_notification_queue_usage() as usage) q
      """)

  /// Begins to listen in the background.
  ///
  /// - Parameters:
  ///   - conninfo: a libpq connection string or URL; empty for libpq's own `PG*` variables.
  ///   - schema: the schema of all tables; nil for that of `RIDEPULSE_SCHEMA`.
  ///   - node: a UUID that no other process uses.
  ///   - log: receives one record when notifications stop arriving, and one when they arrive again.
  ///   - onEvent: receives the session's events, and a notification when LISTEN works again; must
  ///     return at once.
  /// - Throws: `PostgresError`, as a session does.
  package init(
    conninfo: String, schema: SchemaName? = nil, node: String, log: Log,
    onEvent: @escaping @Sendable (SessionEvent) -> Void
  ) throws(PostgresError) {
    channel = "ridepulse_notify_probe_\(node)"
    self.log = log
    self.onEvent = onEvent
    let session = try PostgresSession(
      conninfo: conninfo, schema: schema, listen: [Self.wakeChannel, channel],
      applicationName: "ridepulse listen"
    ) { [weak self] in self?.handle($0) }
    state.withLock { $0.session = session }
  }

  /// Whether notifications are known to reach this node; while they do not, it polls.
  package var isHealthy: Bool { state.withLock { $0.healthCheck.isHealthy } }

  /// Its connection; it runs no transactions.
  package var use: SessionUse { SessionUse(of: state.withLock { $0.session }.map { [$0] } ?? []) }

  /// Closes the session.
  package func close() async {
    await state.withLock { $0.session }?.close()
  }

  /// Notifies this node itself through another session, if it is time.
  ///
  /// It uses a transaction of its own, because a transaction that notifies fails once the server's
  /// queue is full.
  ///
  /// - Returns: Whether it was sent: nil if it is not time, false if the queue is not being read.
  /// - Throws: `PostgresError`; the next call tries again.
  @discardableResult
  func check(through session: PostgresSession) async throws(PostgresError) -> Bool? {
    guard let number = state.withLock({ $0.healthCheck.take(now: .now) }) else { return nil }
    let call = Call(Self.notifyProbe, [channel, String(number)])
    let rows = try await session.run([call], timeout: NotifyHealthCheck.limit)
    guard rows[0].bool(0, 0) ?? false else {
      if state.withLock({ $0.healthCheck.notSent(number, now: .now) }) == .queueFull {
        let usage = NotifyQueue(usage: rows[0].double(0, 1) ?? NotifyQueue.limit)
        report((try? await NotifyQueue.read(session)) ?? usage)
      }
      return false
    }
    state.withLock { $0.healthCheck.sent(number, now: .now) }
    Task { [weak self] in
      try? await Task.sleep(for: NotifyHealthCheck.limit)
      await self?.diagnose(number)
    }
    return true
  }

  private func report(_ queue: NotifyQueue) {
    let holder = queue.holder.map { holder in
      "process \(holder.processID) (\(holder.application), database \(holder.database)), "
        + "\(holder.state), for \(holder.age.rideText)"
    }
    log(
      .warning, .notifyQueueFilling,
      [
        "usage": queue.percentage,
        "oldest_transaction": holder ?? "not visible to this role, a member of pg_monitor sees it",
        "fix": "end the listener that does not read: ridepulse doctor",
      ])
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .notification(channel, let payload):
      let (change, isNew) = state.withLock { state in
        let wasHealthy = state.healthCheck.isHealthy
        let change = Int(payload).flatMap { state.healthCheck.returned($0, now: .now) }
        return (change, !wasHealthy && state.healthCheck.isHealthy)
      }
      if change == .regained { log(.info, .listenRecovered) }
      // Until now producers took this node for awake, and did not notify it.
      if isNew { onEvent(event) }
    case .connected:
      state.withLock { $0.healthCheck.connected() }
      onEvent(event)
    case .disconnected:
      state.withLock { $0.healthCheck.disconnected() }
      onEvent(event)
    case .unreachable, .notification: onEvent(event)
    }
  }

  /// Checks why a probe did not come back, by sending LISTEN once more.
  ///
  /// The session replaces a dead connection; on a live one nothing can be fixed from here.
  private func diagnose(_ number: Int) async {
    guard state.withLock({ $0.healthCheck.isOverdue(number) }),
      let session = state.withLock({ $0.session })
    else { return }
    do throws(PostgresError) {
      let listen = [Self.wakeChannel, channel].map { Statement.listen(to: $0) }
      _ = try await session.run(listen.map { Call($0) }, timeout: NotifyHealthCheck.limit)
      guard state.withLock({ $0.healthCheck.explained() }) == .lost else { return }
      log(
        .warning, .listenWithoutEffect,
        ["fix": "point DATABASE_URL or RIDEPULSE_LISTEN at Postgres, or at a pool in session mode"])
    } catch {
      if error.kind == .closed { return }
      guard state.withLock({ $0.healthCheck.explained() }) == .lost else { return }
      log(.warning, .listenLost, ["error": "\(error)"])
    }
  }
}
