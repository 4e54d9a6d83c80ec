package import RideCore

/// What the database shows of a running service.
package struct LivingState: Hashable, Sendable {
  /// A process that claims rides, or did lately.
  package struct Node: Hashable, Sendable {
    package var host: String
    /// The time since its last claim.
    package var sinceClaim: Duration
    package var reach: NodeReach?
    /// The digest of the rules that it decides with; nil until it reports them.
    package var rules: String?
    /// The rules that it decides a share of the rides with, and the share; nil if there are none.
    package var rulesShare: String?
    /// The time since it reported these rules first.
    package var sinceRules: Duration = .zero
    /// The first problem of rule files that it refused.
    package var rulesProblem: String?
    /// A UUID, new at each start.
    package var id = ""
    /// The time since its first claim.
    package var age: Duration = .zero
    /// Whether it waits for a notification or its next poll.
    package var isAsleep = false
    /// The version of its program; nil until it reports it.
    package var version: String?

    package init(host: String, sinceClaim: Duration, reach: NodeReach? = nil) {
      (self.host, self.sinceClaim, self.reach) = (host, sinceClaim, reach)
    }
  }

  /// Phones of an app that a push service reported as gone within the last hour.
  package struct LostPhones: Hashable, Sendable {
    package var app: String
    package var reason: String
    package var count: Int64
    /// The phones of the app that are left.
    package var left: Int64

    package init(app: String, reason: String, count: Int64, left: Int64) {
      (self.app, self.reason, self.count, self.left) = (app, reason, count, left)
    }
  }

  /// Nodes that claimed within the last ten minutes.
  package var nodes: [Node] = []
  /// Rides that are due, at most `RideGauges.countLimit`.
  package var dueRides: Int64 = 0
  package var oldestDue: Duration = .zero
  package var parkedRides: Int64 = 0
  package var ledger = LedgerDays()
  package var lostPhones: [LostPhones] = []
  /// That an operator holds all sending.
  package var hold: SendingHold?
  package var pauses = Pauses()
  /// By app, within the last five minutes.
  package var traffic: [AppTraffic] = []

  package init() {}
}

extension LivingState {
  static let nodes = Statement(
    name: "",
    sql: """
      select n.host, \(SQLTime.micros(interval: "clock_timestamp() - n.seen_at")), n.apns, r.rules,
        \(SQLTime.micros(interval: "clock_timestamp() - n.rules_since")), n.rules_problem,
        n.rules_share, n.node, \(SQLTime.micros(interval: "clock_timestamp() - n.started_at")),
        n.asleep, r.version
      from ridepulse.nodes n left join ridepulse.revisions r on r.id = n.revision
      where n.seen_at > now() - interval '10 minutes' order by n.host, n.node
      """)

  static func nodes(_ rows: QueryResult) -> [Node] {
    (0..<rows.rowCount).map { row in
      var node = Node(
        host: rows.string(row, 0) ?? "?",
        sinceClaim: .microseconds(max(0, rows.int64(row, 1) ?? 0)),
        reach: rows.string(row, 2).flatMap(NodeReach.init(rawValue:)))
      node.rules = rows.string(row, 3)
      node.sinceRules = .microseconds(max(0, rows.int64(row, 4) ?? 0))
      node.rulesProblem = rows.string(row, 5)
      node.rulesShare = rows.string(row, 6)
      node.id = rows.string(row, 7) ?? ""
      node.age = .microseconds(max(0, rows.int64(row, 8) ?? 0))
      node.isAsleep = rows.bool(row, 9) ?? false
      node.version = rows.string(row, 10)
      return node
    }
  }

  /// What the app itself reports is left out.
  private static let lostPhones = Statement(
    name: "",
    sql: """
      select app, (array_agg(disabled_reason order by disabled_at desc) filter (where is_lost))[1],
        count(*) filter (where is_lost), count(*) filter (where disabled_at is null)
      from (
        select app, disabled_at, disabled_reason,
          coalesce(disabled_at > now() - interval '1 hour'
            and disabled_reason not in ('replaced', 'signed_out', 'withdrawn'), false) as is_lost
        from ridepulse.devices) d
      group by app having count(*) filter (where is_lost) > 0 order by app
      """)

  package static func read(_ session: PostgresSession) async throws -> LivingState {
    let gauges = try await RideGauges.read(session)
    let results = try await session.run(
      [Call(nodes), Call(LedgerDays.statement), Call(lostPhones)], timeout: .seconds(5))
    var state = LivingState()
    state.dueRides = gauges.dueRides
    state.oldestDue = gauges.oldestDue
    state.parkedRides = gauges.parkedRides
    state.nodes = nodes(results[0])
    state.ledger = try LedgerDays(results[1])
    state.hold = try await SendingHold.read(session)
    state.pauses = try await PauseTable.read(session)
    state.traffic = try await AppTraffic.all(session)
    state.lostPhones = try (0..<results[2].rowCount).map { row in
      LostPhones(
        app: try results[2].value(row, 0), reason: results[2].string(row, 1) ?? "unknown",
        count: try results[2].value(row, 2), left: try results[2].value(row, 3))
    }
    return state
  }
}

extension LivingState {
  /// Returns the nodes that claimed within the last ten minutes.
  package static func nodes(_ session: PostgresSession) async throws(PostgresError) -> [Node] {
    nodes(try await session.run([Call(nodes)], timeout: .seconds(5))[0])
  }
}
