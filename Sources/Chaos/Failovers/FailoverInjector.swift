import LocalStack
import RideCore

/// Ends or moves the primary of a Patroni cluster, and waits until a standby follows the new one.
struct FailoverInjector {
  let patroni: LocalPatroni
  let incidents: IncidentLog
  /// How long the standby is behind when the primary ends; without it, next to nothing is lost on
  /// one machine.
  static let delay: Duration = .seconds(2)
  /// How long a hanging primary keeps its sessions after another one was promoted.
  private static let hang: Duration = .seconds(15)

  /// Returns the failovers of a run, in their order.
  static func kinds(_ count: Int) -> [Failover.Kind] {
    Array(repeating: .kill, count: count) + [.switchover, .hang]
  }

  func perform(_ kind: Failover.Kind) async throws -> Failover {
    let before = try await patroni.waitUntilRedundant(limit: .seconds(180))
    guard let leader = before.leader, let timeline = leader.timeline,
      let standby = LocalPatroni.members.first(where: { $0 != leader.name })
    else { throw ChaosFailure("Patroni reports no primary: \(before)") }
    var failover = Failover(kind: kind, timeline: timeline)
    failover.from = IncidentLog.now
    failover.lostAt = try await lose(leader.name, by: kind)
    failover.next = try await waitUntilWritable(standby, after: timeline)
    failover.writableAt = IncidentLog.now
    incidents.record(
      .failover, from: failover.from, to: failover.writableAt,
      "\(kind.rawValue) of \(leader.name), timeline \(timeline) to \(failover.next)")
    if kind == .hang {
      try await Task.sleep(for: Self.hang)
      try await patroni.kill(leader.name)
    }
    if kind.endsPrimary {
      failover.beyond = try await commitsBeyond(failover, of: leader.name, now: standby)
      try patroni.start(leader.name)
    }
    _ = try await patroni.waitUntilRedundant(limit: .seconds(180))
    failover.redundantAt = IncidentLog.now
    return failover
  }

  /// Returns when the primary was lost, or asked to leave, in seconds since 1970.
  private func lose(_ leader: String, by kind: Failover.Kind) async throws -> Double {
    if kind != .switchover {
      try patroni.delayReplication(from: leader)
      try await Task.sleep(for: Self.delay)
    }
    let now = IncidentLog.now
    switch kind {
    case .kill: try await patroni.kill(leader)
    case .switchover: try await patroni.switchOver(from: leader)
    case .hang: patroni.freeze(leader)
    }
    return now
  }

  /// Waits until a member is the primary of a new timeline; returns the timeline.
  private func waitUntilWritable(_ member: String, after timeline: Int) async throws -> Int {
    let limit = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < limit {
      let session = try AdminSession(conninfo: patroni.url(of: member))
      let text = try? await session.value(Self.timeline)
      await session.close(limit: .seconds(1))
      if let now = text.flatMap(\.self).flatMap({ Int($0) }), now > timeline { return now }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw ChaosFailure("no other primary for two minutes; the logs are in \(patroni.directory)")
  }

  /// The timeline on which a primary writes; null on a standby.
  private static let timeline = """
    select case when not pg_is_in_recovery() then
      ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer end
    """

  private func commitsBeyond(
    _ failover: Failover, of former: String, now primary: String
  ) async throws -> Set<Int64> {
    guard let position = patroni.switchPoint(of: failover.next, on: primary) else {
      throw ChaosFailure("\(primary) has no history of timeline \(failover.next)")
    }
    return try await patroni.commits(of: former, after: position, timeline: failover.timeline)
  }
}
