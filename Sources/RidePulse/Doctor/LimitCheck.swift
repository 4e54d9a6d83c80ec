import Base
import PostgresStore
import RideCore

/// Finds what makes the engine wait or give up: limits of its role, and locks of other sessions.
enum LimitCheck {
  /// Returns one result for each limit that interferes; none if all is well.
  static func results(_ probes: DatabaseState) -> [CheckResult] {
    statements(probes) + outcomes(probes)
  }

  /// A claim of a full batch takes well under this, even on a busy server.
  private static let shortStatement: Duration = .seconds(2)

  private static func statements(_ probes: DatabaseState) -> [CheckResult] {
    guard let server = probes.server.value, let limit = server.statementLimit,
      limit < shortStatement
    else { return [] }
    let milliseconds = limit.microseconds / 1000
    return [
      .warning(
        "statement timeout",
        "role \(server.role) has statement_timeout = \(milliseconds)ms: claims and settlements are "
          + "made smaller until they fit, and a ride that does not fit alone is parked",
        "psql \"$DATABASE_URL\" -c \"alter role \(server.role) set statement_timeout = '10s'\"")
    ]
  }

  /// Outcomes are applied within moments unless another session has the row locked.
  private static let longWait: Duration = .seconds(60)

  private static func outcomes(_ probes: DatabaseState) -> [CheckResult] {
    let name = "token outcomes"
    return probes.outcomes.judged(name, else: "they can't be read") { backlog in
      guard let age = backlog.age, age >= longWait else { return [] }
      return [outcomes(name, backlog, age)]
    }
  }

  private static func outcomes(
    _ name: String, _ backlog: TokenBacklog, _ age: Duration
  ) -> CheckResult {
    let what =
      "\(counted(Int(backlog.count), "answer")) of APNs not applied to phones, cards or channels, "
      + "the oldest for \(age.rideText)"
    guard let blocker = backlog.blocker else {
      return .warning(
        name, what, "start ridepulse serve, and look for 'Token outcome' in its log")
    }
    let open = blocker.age.map { ", open for \($0.rideText)" } ?? ""
    guard let pid = blocker.processID else {
      return .warning(
        name, "\(what): the prepared transaction \(blocker.name) has rows locked\(open)",
        "commit prepared '\(blocker.name.replacing("'", with: "''"))', or roll it back")
    }
    return .warning(
      name, "\(what): session \(pid) (\(blocker.name)) has rows or a table locked\(open)",
      "end its transaction, once you know whose it is: "
        + "psql \"$DATABASE_URL\" -c 'select pg_terminate_backend(\(pid))'")
  }
}

enum QueueCheck {
  static let name = "notify queue"

  static func results(_ queue: Probe<NotifyQueue>) -> [CheckResult] {
    queue.judged(name, needs: "postgres", else: "its usage can't be read") { [result($0)] }
  }

  private static func result(_ queue: NotifyQueue) -> CheckResult {
    if !queue.isFull { return .ok(name, "\(queue.percentage) full") }
    let what =
      "\(queue.percentage) full: a listener, of any database of this server, does not read it; "
      + "nodes poll, and once it is full every commit that notifies fails"
    guard let holder = queue.holder else {
      return .warning(
        name, "\(what). This role can't see other sessions",
        "as a superuser or member of pg_monitor: psql -c \"select pid, application_name, state, "
          + "xact_start from pg_stat_activity where xact_start is not null order by xact_start\"",
        "end the listener among them: pg_terminate_backend(PID)")
    }
    return .warning(
      name,
      "\(what). The oldest transaction is that of session \(holder.processID) "
        + "(\(holder.application), database \(holder.database)), \(holder.state), "
        + "for \(holder.age.rideText)",
      "as its role or a superuser: psql -c 'select pg_terminate_backend(\(holder.processID))', once "
        + "you know whose it is")
  }
}
