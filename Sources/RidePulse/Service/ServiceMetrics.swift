import AdminServer
import Base
import Foundation
import Orchestrator
import PostgresStore
import PushClient
import RideCore

enum ServiceMetrics {
  /// The values read from the parts of a service at one time.
  struct Reading: Sendable {
    var tally: PushTally
    var engine: EngineStatistics
    var transport: [PoolStatistics]
    var accessTokens: [AccessTokenStatistics] = []
    var apnsAhead: Duration
    /// Nil if the node does not listen.
    var listenIsHealthy: Bool?
    var problems: [String]
    /// Nil if the database did not answer.
    var database: RideGauges?
    /// How long dead rows have been held back.
    var holderAge: Duration = .zero
    var watched: [WatchProblem] = []
    /// Nil if they could not be counted.
    var androidCards: AndroidCardCount?
    var phones: PhoneCounts?
    var ledger: LedgerDays?
    /// The node's own sessions, by what they are for.
    var sessions: [(purpose: String, use: SessionUse)] = []
    /// Of each task that this service runs; nil if it has not succeeded yet.
    var lastSuccesses: [ServiceTask: Timestamp?] = [:]
    /// The server and timeline of the last claim; nil before the first.
    var databaseIdentity: DatabaseIdentity?
    /// How often they have changed since the start.
    var failovers = 0
    /// The rules in use.
    var release: RuleRelease?
    /// Whether the database's pin keeps this service from sending.
    var isHeld = false
    /// The rules whose receiver answered 410.
    var postsOff: Set<PostAddress> = []
    /// Nil if no spans are exported.
    var spans: SpanCounts?
    /// The pauses that this node follows.
    var pauses: [Pause] = []
  }

  static func page(_ reading: Reading, _ expected: ExpectedOutcomes) -> String {
    MetricFamily.page(families(reading, expected))
  }

  static func families(_ reading: Reading, _ expected: ExpectedOutcomes) -> [MetricFamily] {
    PushMetrics.families(reading.tally, expected) + [build] + health(reading)
      + (reading.release.map(RuleMetrics.families) ?? [])
      + engine(reading.engine) + [postsOff(reading.postsOff), paused(reading.pauses)]
      + connections(reading.transport, ahead: reading.apnsAhead)
      + accessTokens(reading.accessTokens) + database(reading)
      + tasks(reading.lastSuccesses) + [SpanCounts.family(reading.spans)]
      + ProcessMetrics.families()
  }

  /// The metrics of several cells: those of the process once, the others with the label `cell`.
  static func page(ofCells cells: [(name: String, families: [MetricFamily])]) -> String {
    let isOfProcess = Set(
      ([build] + connections([], ahead: .zero) + accessTokens([]) + ProcessMetrics.families())
        .map(\.name))
    guard var page = cells.first?.families else { return "" }
    var index: [String: Int] = [:]
    for (position, family) in page.enumerated() { index[family.name] = position }
    for position in page.indices where !isOfProcess.contains(page[position].name) {
      page[position] = page[position].labelled("cell", cells[0].name)
    }
    for cell in cells.dropFirst() {
      for family in cell.families where !isOfProcess.contains(family.name) {
        let own = family.labelled("cell", cell.name)
        if let position = index[family.name] {
          page[position].add(samplesOf: own)
        } else {
          index[family.name] = page.count
          page.append(own)
        }
      }
    }
    return MetricFamily.page(page)
  }

  private static var build: MetricFamily {
    var build = MetricFamily(
      .gauge, "ridepulse_build_info", "The program's version, with the commit; always 1.")
    build.add(1, [.init("version", Version.text)])
    return build
  }

  private static func health(_ reading: Reading) -> [MetricFamily] {
    var listens = MetricFamily(
      .gauge, "ridepulse_listen_healthy",
      "1 if notifications from Postgres reach this node; otherwise events wait for the next poll."
    )
    if let isHealthy = reading.listenIsHealthy { listens.add(isHealthy ? 1 : 0, []) }
    var timeline = MetricFamily(
      .gauge, "ridepulse_postgres_timeline",
      "The timeline of the server's log at the last claim; each promotion of a standby raises it.")
    if let identity = reading.databaseIdentity { timeline.add(Double(identity.timeline), []) }
    return [
      timeline,
      MetricFamily(
        .counter, "ridepulse_postgres_failovers_total",
        "Failovers of Postgres, and changes to another server, that this process has seen.",
        Double(reading.failovers)),
      MetricFamily(
        .gauge, "ridepulse_sending_held",
        "1 while nothing is sent because the database does not match its pin.",
        reading.isHeld ? 1 : 0),
      MetricFamily(
        .gauge, "ridepulse_ready", "1 if /readyz answers ready.",
        reading.problems.isEmpty ? 1 : 0),
      MetricFamily(
        .gauge, "ridepulse_database_answers", "1 if the database answered this scrape.",
        reading.database == nil ? 0 : 1),
      listens,
    ]
  }

  private static func engine(_ engine: EngineStatistics) -> [MetricFamily] {
    var lanes = MetricFamily(
      .gauge, "ridepulse_lane_paused",
      "1 while an app's pushes are paused: APNs can't be reached, or refuses them.")
    for lane in engine.lanes {
      for cause in PauseCause.allCases {
        lanes.add(
          lane.pausedBy == cause ? 1 : 0,
          [
            .init("app", lane.app), .init("environment", lane.network.rawValue),
            .init("cause", cause.rawValue),
          ])
      }
    }
    return times(engine) + [
      lanes,
      MetricFamily(
        .gauge, "ridepulse_rides_leased", "Rides that this node holds under a lease.",
        Double(engine.ridesHeld)),
      one(
        "ridepulse_settlement_failing_seconds",
        "How long settlements have failed without interruption; 0 while they succeed. No ride is claimed meanwhile.",
        engine.settlementFailing),
      one(
        "ridepulse_claim_failing_seconds",
        "How long claims, or calls that rides need before they are sent, have failed without interruption; 0 while they succeed.",
        engine.claimFailing),
      MetricFamily(
        .gauge, "ridepulse_node_aside",
        "1 while this node claims nothing because it can't reach APNs or FCM, or has no answer from it, and another node does.",
        engine.isAside ? 1 : 0),
      one(
        "ridepulse_last_claim_age_seconds", "Time since the database last answered a claim.",
        engine.sinceClaim),
      one(
        "ridepulse_clock_offset_seconds",
        "How far the database's clock is ahead of this machine's; RidePulse uses the database's.",
        engine.databaseAhead),
    ]
  }

  private static func times(_ engine: EngineStatistics) -> [MetricFamily] {
    var claims = MetricFamily(
      .histogram, "ridepulse_claim_seconds",
      "Time of claims that the database answered, with the reading of their rides.")
    claims.add(engine.claims)
    var settlements = MetricFamily(
      .histogram, "ridepulse_settlement_seconds",
      "Time of settlements that were written, each of a batch of rides.")
    settlements.add(engine.settlements)
    var answers = MetricFamily(
      .histogram, "ridepulse_answer_seconds",
      "Time from handing a push to the connections of APNs or FCM, or a post to those of its receiver, to the answer; a wait for a connection or a stream counts."
    )
    for lane in engine.lanes {
      answers.add(
        lane.answers, [.init("app", lane.app), .init("environment", lane.network.rawValue)])
    }
    return [claims, settlements, answers]
  }

  /// By Prometheus' clock, not by the database's.
  private static func tasks(_ successes: [ServiceTask: Timestamp?]) -> [MetricFamily] {
    var family = MetricFamily(
      .gauge, "ridepulse_task_last_success_timestamp_seconds",
      "When the node last did what it repeats next to its pushes, in seconds since 1970; 0 if it has not since its start."
    )
    for task in ServiceTask.allCases {
      guard let success = successes[task] else { continue }
      let at = success.map { Double($0.microseconds) / 1e6 }
      family.add(at ?? 0, [.init("task", task.rawValue)])
    }
    return [family]
  }

  private static func postsOff(_ posts: Set<PostAddress>) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_posts_off",
      "1 while a rule's posts are off: the receiver answered 410, and the rules were not reloaded since."
    )
    for post in posts.sorted(by: { ($0.receiver, $0.rule) < ($1.receiver, $1.rule) }) {
      family.add(1, [.init("receiver", post.receiver), .init("rule", post.rule)])
    }
    return family
  }

  private static func connections(
    _ pools: [PoolStatistics], ahead: Duration
  ) -> [MetricFamily] {
    var open = MetricFamily(
      .gauge, "ridepulse_push_connections", "Connections that accept pushes.")
    var opened = MetricFamily(
      .counter, "ridepulse_push_connections_opened_total", "Connections opened since the start.")
    var streams = MetricFamily(
      .gauge, "ridepulse_push_stream_limit",
      "Streams that APNs or FCM permits on all open connections.")
    var flying = MetricFamily(
      .gauge, "ridepulse_pushes_in_flight", "Pushes sent and not yet answered.")
    var queued = MetricFamily(
      .gauge, "ridepulse_pushes_queued", "Pushes waiting for a connection or a free stream.")
    var age = MetricFamily(
      .gauge, "ridepulse_apns_provider_token_age_seconds",
      "Age of the provider token of open connections by its iat, the start of a half hour, also of a new key; APNs accepts none older than an hour."
    )
    for pool in pools {
      let statistics = pool.connections
      let labels = [
        MetricFamily.Label("environment", pool.network.rawValue),
        MetricFamily.Label("credential", pool.credential),
      ]
      if let tokenAge = pool.tokenAge { age.add(tokenAge.inSeconds, labels) }
      open.add(Double(statistics.openConnections), labels)
      opened.add(Double(statistics.openedTotal), labels)
      streams.add(Double(statistics.streamLimits.reduce(0, +)), labels)
      flying.add(Double(statistics.inFlight), labels)
      queued.add(Double(statistics.queued), labels)
    }
    return [
      open, opened, streams, flying, queued, age,
      one(
        "ridepulse_apns_clock_offset_seconds",
        "How far APNs' clock is ahead of the database's, if a refusal has revealed it.",
        ahead),
    ]
  }

  private static func accessTokens(_ accounts: [AccessTokenStatistics]) -> [MetricFamily] {
    var age = MetricFamily(
      .gauge, "ridepulse_access_token_age_seconds",
      "Age of the access token of a service account; Google's are valid for an hour.")
    var failures = MetricFamily(
      .counter, "ridepulse_access_token_failures_total",
      "Requests for an access token that failed.")
    for account in accounts {
      let credential = MetricFamily.Label("credential", account.credential)
      if let tokenAge = account.age { age.add(tokenAge.inSeconds, [credential]) }
      for (reason, count) in account.failures.sorted(by: { $0.key < $1.key }) {
        failures.add(Double(count), [credential, .init("reason", reason)])
      }
    }
    return [age, failures]
  }

  static func one(_ name: String, _ help: String, _ value: Duration?) -> MetricFamily {
    guard let value else { return MetricFamily(.gauge, name, help) }
    return MetricFamily(.gauge, name, help, value.inSeconds)
  }
}
