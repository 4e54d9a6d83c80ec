import AdminServer
import Base
import Orchestrator
import PostgresStore
import PushClient
import RideCore
import Synchronization

// What the service reports: metrics, a ride's history, searches, and what is left to do.
extension Service {
  func metrics() async -> [MetricFamily] {
    let database = try? await pool.with(.short) { session in
      let gauges = try await RideGauges.read(session)
      // A right that the role lacks since an upgrade costs only these metrics, and so do large memos.
      let watched = (try? await WatchProblem.all(session)) ?? []
      return (
        gauges, watched, cards: try? await AndroidCardCount.read(session),
        phones: try? await PhoneCounts.read(session), ledger: try? await LedgerDays.read(session)
      )
    }
    var reading = reading(database?.0)
    if let gauges = database?.0 {
      reading.holderAge = holderWatch.withLock {
        $0.age(of: gauges.oldestTransaction, at: .now)
      }
    }
    reading.watched = database?.1 ?? []
    reading.androidCards = database?.cards
    (reading.phones, reading.ledger) = (database?.phones, database?.ledger)
    reading.sessions = sessions.use + [("shared", await pool.use)]
    reading.lastSuccesses = tasks.lastSuccesses
    return ServiceMetrics.families(reading, ExpectedOutcomes(of: rules, apps: apps))
  }

  /// Returns the current readings of all parts, without a query to the database.
  func reading(_ gauges: RideGauges?) -> ServiceMetrics.Reading {
    ServiceMetrics.Reading(
      tally: meter.total, engine: engine.statistics,
      transport: shared.pushes.statistics(), accessTokens: shared.pushes.accessTokens(),
      apnsAhead: shared.pushes.clockLead,
      listenIsHealthy: listenIsHealthy, problems: problems,
      database: gauges, databaseIdentity: store.databaseIdentity, failovers: store.failovers,
      release: rulesInUse.release, isHeld: !store.pinProblems.isEmpty,
      postsOff: posts.off, spans: traces?.counts,
      pauses: engine.configuration.pauses.current(at: time.now))
  }

  /// The current time by the database's clock.
  var now: Timestamp { time.now }

  func history(of ride: String) async throws -> RideHistory {
    try await pool.with(.short) { try await RideQueries(session: $0).history(of: ride) }
  }

  /// Returns a ride's history with its recorded passes.
  func recordedHistory(of ride: String) async throws -> (RideHistory, RecordedSource) {
    try await pool.with(.long) { session in
      let history = try await RideQueries(session: session).history(of: ride)
      return (history, try await RecordedSource.read(history, of: ride, session))
    }
  }

  func search(_ key: SearchKey) async throws -> SearchResult {
    try await pool.with(.long) { try await PushSearch(session: $0).result(of: key) }
  }

  /// Whether notifications of Postgres reach this node; nil if it does not listen. If they do not,
  /// events wait for the next poll.
  var listenIsHealthy: Bool? { sessions.listener?.isHealthy }

  func databaseTime() async throws -> Timestamp { try await store.databaseTime() }

  /// Returns how many rides are due and not parked, and how many have been parked since a time.
  func leftovers(since start: Timestamp) async throws -> (due: Int, parked: Int) {
    (try await store.dueRides(atMost: 1000), try await store.parkedRides(since: start))
  }
}
