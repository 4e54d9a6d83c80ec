import AdminServer
import Base
import PostgresStore
import RideCore

// The metrics of the database, which are the same on every node, and of the node's sessions.
extension ServiceMetrics {
  static func database(_ reading: Reading) -> [MetricFamily] {
    (reading.database.map { gauges($0, reading.holderAge) } ?? []) + sessions(reading.sessions) + [
      watched(reading.watched), cards(reading.androidCards), phones(reading.phones),
      days(reading.ledger),
    ]
  }

  private static func sessions(
    _ sessions: [(purpose: String, use: SessionUse)]
  ) -> [MetricFamily] {
    var open = MetricFamily(
      .gauge, "ridepulse_database_sessions_open", "Connections to Postgres by their purpose.")
    var busy = MetricFamily(
      .gauge, "ridepulse_database_sessions_busy",
      "Sessions with a transaction that is executed or waits, by their purpose.")
    for (purpose, use) in sessions {
      open.add(Double(use.open), [.init("purpose", purpose)])
      busy.add(Double(use.busy), [.init("purpose", purpose)])
    }
    return [open, busy]
  }

  private static func phones(_ counts: PhoneCounts?) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_phones",
      "Phones by state, and the reason of disabled ones, as one node counts them, at most once a minute."
    )
    for line in counts?.lines ?? [] {
      family.add(
        Double(line.phones),
        [
          .init("app", line.app), .init("platform", line.platform), .init("state", line.state),
          .init("reason", line.reason),
        ])
    }
    return family
  }

  private static func days(_ ledger: LedgerDays?) -> MetricFamily {
    var family = MetricFamily(
      .gauge, "ridepulse_ledger_partitions_ahead",
      "Days after today that have a partition of the ledger, up to the first that has none; the service makes seven."
    )
    if let ledger { family.add(Double(ledger.ahead)) }
    return family
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

  private static func gauges(_ gauges: RideGauges, _ holderAge: Duration) -> [MetricFamily] {
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
        "ridepulse_oldest_token_outcome_age_seconds",
        "How long the oldest of them has waited, because another session holds a lock on the token's row or table.",
        gauges.oldestOutcome),
      one(
        "ridepulse_oldest_transaction_age_seconds",
        "How long the oldest transaction has kept Postgres from removing dead rows; counted from when this process first saw it, unless its role may read the time (pg_read_all_stats).",
        holderAge),
    ]
  }
}
