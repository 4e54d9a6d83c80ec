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
    var watched: [WatchProblem] = []
    /// Nil if they could not be counted.
    var androidCards: AndroidCardCount?
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
  }

  static func page(_ reading: Reading, _ expected: ExpectedOutcomes) -> String {
    MetricFamily.page(
      PushMetrics.families(reading.tally, expected) + health(reading)
        + (reading.release.map(RuleMetrics.families) ?? [])
        + engine(reading.engine) + [postsOff(reading.postsOff)]
        + apns(reading) + accessTokens(reading.accessTokens) + database(reading.database)
        + [watched(reading.watched), cards(reading.androidCards)]
        + ProcessMetrics.families())
  }

  private static func cards(_ counts: AndroidCardCount?) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_card_runs",
      "Cards of Android phones by state, of at most \(RideStates.rideLimit) rides.")
    guard let counts else { return family }
    for (state, count) in [
      ("starting", counts.starting), ("shown", counts.shown), ("over", counts.over),
    ] {
      family.add(Double(count), [.init("state", state)])
    }
    return family
  }

  /// Counts only problems that were recorded recently.
  private static func watched(_ problems: [WatchProblem]) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_watch_problems",
      "Columns and triggers of attached tables that have a problem, now or within the last hour.")
    let recent = problems.filter { $0.age.map { $0 < .seconds(3600) } ?? true }
    for (key, group) in Dictionary(grouping: recent, by: { [$0.table, $0.code] })
      .sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
    {
      family.add(Double(group.count), [.init("table", key[0]), .init("problem", key[1])])
    }
    return family
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
    var build = MetricFamily(
      .gauge, "ridepulse_build_info", "The program's version, with the commit; always 1.")
    build.add(1, [.init("version", Version.text)])
    return [
      build, timeline,
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
    return [
      lanes,
      MetricFamily(
        .gauge, "ridepulse_rides_held", "Rides that this node holds under a lease.",
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

  private static func apns(_ reading: Reading) -> [MetricFamily] {
    var open = MetricFamily(
      .gauge, "ridepulse_apns_connections", "Connections that accept pushes.")
    var opened = MetricFamily(
      .counter, "ridepulse_apns_connections_opened_total", "Connections opened since the start.")
    var streams = MetricFamily(
      .gauge, "ridepulse_apns_stream_limit", "Streams that APNs permits on all open connections.")
    var flying = MetricFamily(
      .gauge, "ridepulse_apns_pushes_in_flight", "Pushes sent and not yet answered.")
    var queued = MetricFamily(
      .gauge, "ridepulse_apns_pushes_queued", "Pushes waiting for a connection or a free stream.")
    var age = MetricFamily(
      .gauge, "ridepulse_apns_provider_token_age_seconds",
      "Age of the provider token of open connections; APNs accepts none older than an hour.")
    for pool in reading.transport {
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
        reading.apnsAhead),
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

  private static func database(_ gauges: RideGauges?) -> [MetricFamily] {
    guard let gauges else { return [] }
    var channels = MetricFamily(
      .gauge, "ridepulse_channels_used",
      "Broadcast channels in Apple's last list, out of the 10000 per app and environment.")
    for (scope, count) in gauges.channels.sorted(by: { $0.key.description < $1.key.description }) {
      channels.add(
        Double(count),
        [.init("bundle_id", scope.bundleID), .init("environment", scope.environment.rawValue)])
    }
    return [
      channels,
      MetricFamily(
        .gauge, "ridepulse_rides_live", "Rides on the agenda.", Double(gauges.liveRides)),
      MetricFamily(
        .gauge, "ridepulse_rides_due",
        "Rides on the agenda that are due, counted up to \(RideGauges.countLimit).",
        Double(gauges.dueRides)),
      one(
        "ridepulse_oldest_due_age_seconds",
        "How long the oldest due ride or event has waited.", gauges.oldestDue),
      MetricFamily(
        .gauge, "ridepulse_rides_parked", "Parked rides; see \(Database.schema).parked.",
        Double(gauges.parkedRides)),
      MetricFamily(
        .gauge, "ridepulse_phones_quarantined",
        "Phones in quarantine; see \(Database.schema).quarantine.", Double(gauges.quarantinedPhones)
      ),
      MetricFamily(
        .gauge, "ridepulse_token_outcomes_waiting",
        "Answers of APNs not yet applied to their tokens, counted up to \(TokenBacklog.countLimit).",
        Double(gauges.waitingOutcomes)),
      one(
        "ridepulse_token_outcomes_oldest_age_seconds",
        "How long the oldest of them has waited, because another session holds a lock on the token's row or table.",
        gauges.oldestOutcome),
      one(
        "ridepulse_oldest_transaction_age_seconds",
        "How long the oldest transaction has kept Postgres from removing dead rows.",
        gauges.oldestTransaction?.age ?? .zero),
    ]
  }

  private static func one(_ name: String, _ help: String, _ value: Duration?) -> MetricFamily {
    guard let value else { return MetricFamily(.gauge, name, help) }
    return MetricFamily(.gauge, name, help, value.inSeconds)
  }
}

/// Metrics of this process as read from Linux, under the names that every Prometheus client uses.
enum ProcessMetrics {
  static func families() -> [MetricFamily] {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      // The command's name is in parentheses, and may contain any character.
      let end = stat.lastIndex(of: ")")
    else { return [] }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    func field(_ number: Int) -> Double {
      fields.count > number - 3 ? Double(fields[number - 3]) ?? 0 : 0
    }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let page = Double(sysconf(Int32(_SC_PAGESIZE)))
    let age = ProcessInfo.processInfo.systemUptime - field(22) / max(1, ticks)
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return [
      MetricFamily(
        .counter, "process_cpu_seconds_total", "Processor time in user and kernel mode.",
        (field(14) + field(15)) / max(1, ticks)),
      MetricFamily(
        .gauge, "process_start_time_seconds", "Start time of the process, in seconds since 1970.",
        Date().timeIntervalSince1970 - age),
      MetricFamily(
        .gauge, "process_resident_memory_bytes", "Resident memory.", field(24) * page),
      MetricFamily(
        .gauge, "process_virtual_memory_bytes", "Virtual memory.", field(23)),
      MetricFamily(.gauge, "process_threads", "Threads.", field(20)),
      MetricFamily(.gauge, "process_open_fds", "Open file descriptors.", Double(files)),
    ]
  }
}
