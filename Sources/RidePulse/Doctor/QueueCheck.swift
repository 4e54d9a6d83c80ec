import PostgresStore
import RideCore

/// Judges the usage of the server's NOTIFY queue.
enum QueueCheck {
  static let name = "notify queue"

  static func finding(_ queue: Probe<NotifyQueue>) -> CheckResult {
    switch queue {
    case .unasked: return .skipped(name, needs: "postgres")
    case .failed(let why):
      return .warning(name, "its usage can't be read: \(why)", "ridepulse doctor, once more")
    case .known(let queue) where !queue.isFull:
      return .ok(name, "\(queue.percentage) full")
    case .known(let queue):
      let what =
        "\(queue.percentage) full: a listener, of any database of this server, does not read it; "
        + "nodes poll, and once it is full every commit that notifies fails"
      guard let holder = queue.holder else {
        return .warning(
          name, "\(what). This role sees no other sessions",
          "as a superuser or member of pg_monitor: psql -c \"select pid, application_name, state, "
            + "xact_start from pg_stat_activity where xact_start is not null order by xact_start\"",
          "end the listener among them: pg_terminate_backend(PID)")
      }
      return .warning(
        name,
        "\(what). The oldest transaction is that of session \(holder.processID) "
          + "(\(holder.application), database \(holder.database)), \(holder.state), "
          + "for \(holder.age.rideText)",
        "psql -c 'select pg_terminate_backend(\(holder.processID))', once you know whose it is")
    }
  }
}
