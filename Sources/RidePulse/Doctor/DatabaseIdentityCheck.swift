import PostgresStore

/// Checks which database this is: its pin, its standbys, and past failovers. What is in order is
/// not mentioned.
enum DatabaseIdentityCheck {
  static func results(_ probes: DatabaseState) -> [CheckResult] {
    pin(probes.pin)
      + [hosts(probes), standbys(probes.replication), failovers(probes.replication)]
      .compactMap(\.self)
  }

  private static func pin(_ probe: Probe<[PinProblem]>) -> [CheckResult] {
    probe.judged("pin", else: "it can't be read") { problems in
      if problems.isEmpty { return [] }
      let what = "nothing is sent: " + problems.map(\.description).joined(separator: "; ")
      if problems.allSatisfy({ $0.kind == .held }) {
        return [.failure("pin", what, "ridepulse release, once its reason is over")]
      }
      return [
        .failure(
          "pin", what,
          "if phones are to be notified from this database, stop services with other bundle IDs, "
            + "environments or sites, then: psql \"$DATABASE_URL\" -c "
            + ShellText.word("select \(Database.schema).pin()"),
          "otherwise set the DATABASE_URL, APNS_… and RIDEPULSE_SITE variables of this service")
      ]
    }
  }

  private static func hosts(_ probes: DatabaseState) -> CheckResult? {
    guard probes.mayReachStandby else { return nil }
    return .warning(
      "hosts", "several hosts are given, with a target_session_attrs that accepts a standby",
      "remove target_session_attrs from DATABASE_URL, or set it to read-write")
  }

  private static func standbys(_ probe: Probe<ReplicationState>) -> CheckResult? {
    guard let state = probe.value, state.losesCommits else { return nil }
    let cause =
      state.synchronousNames.isEmpty
      ? "synchronous_standby_names is empty" : "synchronous_commit is \(state.commit)"
    let remedy =
      state.synchronousNames.isEmpty
      ? "alter system set synchronous_standby_names = 'ANY 1 (*)', then select pg_reload_conf(); "
        + "with Patroni: synchronous_mode: true"
      : "alter role ROLE set synchronous_commit = 'on'"
    return .warning(
      "standbys",
      "\(counted(Int(state.standbys), "standby", "standbys")), and \(cause): a failover may lose the last commits, "
        + "events and records of pushes alike; pushes whose record is lost may be sent twice",
      remedy)
  }

  private static func failovers(_ probe: Probe<ReplicationState>) -> CheckResult? {
    guard let timeline = probe.value?.timeline, timeline > 1 else { return nil }
    return .ok(
      "failovers",
      "timeline \(timeline): a standby was promoted, or a backup restored, "
        + counted(Int(timeline) - 1, "time"))
  }
}
