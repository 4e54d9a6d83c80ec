import Base
import Foundation
import LocalStack
import Orchestrator
import PostgresStore
import RideCore
import RuleFiles
import Synchronization

/// `ridepulse demo`: runs all of RidePulse on one machine, in a temporary directory.
enum Demo: Command {
  static let form = CommandForm(
    name: "demo", summary: "run a private Postgres, simulators and a small fleet",
    options: [
      .init(name: "--for", value: "DURATION", help: "end after this time, with a summary"),
      .init(name: "--rides", value: "N", help: "rides at a time (8)"),
      .init(name: "--ios-only", help: "no Android phones, which are every third one"),
      .schedules,
    ],
    notes: ["Everything is in a temporary directory, which is deleted when the demo ends."])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let limit = try arguments.duration("--for")
    let size = try arguments.integer("--rides", in: 1...1000) ?? 8
    let rules = try RuleDirectoryChoice.load(arguments.value("--schedules"), context.environment)
    let hasAndroid = !arguments.has("--ios-only")
    Terminal.printError(
      "starting a private Postgres"
        + (hasAndroid ? ", apns-simulator and fcm-simulator …" : " and apns-simulator …"))
    let cluster = try await LocalCluster()
    return try await withCleanup({ await cluster.stop() }) {
      let options = ["--inbox", "127.0.0.1:0"]
      let simulator = try LocalSimulator(directory: cluster.directory + "/apns", options: options)
      defer { simulator.stop() }
      let fcm =
        hasAndroid
        ? try LocalFCMSimulator(directory: cluster.directory + "/fcm", options: options) : nil
      defer { fcm?.stop() }
      let inboxes = [simulator.inboxURL, fcm?.inboxURL].compactMap(\.self)
      let notice = "What the phones show: " + inboxes.joined(separator: " and ")
      Terminal.printError(notice)
      let environment = simulator.environment.merging(fcm?.environment ?? [:]) { $1 }
      let stage = DemoStage(
        conninfo: cluster.url(),
        apns: try APNsVariables(environment).spelled(as: rules.ruleSet.apps),
        rules: rules.ruleSet, notice: notice, log: context.log.log)
      return try await stage.run(size: size, limit: limit)
    }
  }
}

/// Runs the demo: service and fleet against a private Postgres and the simulators.
struct DemoStage {
  let conninfo: String
  let apns: APNsVariables
  let rules: RuleSet
  /// Stays on the live screen.
  let notice: String
  let log: Log

  private var hasAndroid: Bool { !apns.fcm.isEmpty }

  func run(size: Int, limit: Duration?) async throws -> ExitStatus {
    try await Database.with(conninfo: conninfo, name: "demo") { backend in
      _ = try await Migrations.apply(session: backend, dryRun: false)
      let view = DemoView(notice: notice)
      // Log lines would corrupt the live screen.
      let log = Terminal.isInteractive ? Log { _, _, _ in } : log
      let service = try Service(
        cell: Cell(conninfo: conninfo), apns: apns, release: RuleRelease(rules),
        shared: SharedTransport(apns, log: log), log: log, onSettled: { view.observe($0) })
      return try await withCleanup({ await service.close() }) {
        _ = try await service.start(limit: .seconds(30))
        let fleet = Fleet(
          size: size, end: limit ?? .seconds(24 * 3600), seed: 7, hasAndroid: hasAndroid)
        try await run(service, fleet, FleetBackend(session: backend), view)
        return try await summary(backend, view)
      }
    }
  }

  private func run(
    _ service: Service, _ fleet: Fleet, _ backend: FleetBackend, _ view: DemoView
  ) async throws {
    let engine = Task { await service.engine.run() }
    let outcomes = Task { await service.tasks.outcomes.run() }
    defer { outcomes.cancel() }
    view.begin()
    try await withCleanup({
      view.end()
      service.stop()
      await engine.value
    }) {
      try await drive(fleet, backend, view)
    }
  }

  /// Runs the fleet until it ends or a person stops it, then waits for the last verdict.
  private func drive(_ fleet: Fleet, _ backend: FleetBackend, _ view: DemoView) async throws {
    let isStopped = Mutex(false)
    let stopped = { @Sendable (_: String) in isStopped.withLock { $0 = true } }
    let signals = ServiceSignals(onFirst: stopped)
    defer { signals.cancel() }
    var fleet = fleet
    let clock = ContinuousClock()
    let start = clock.now
    while !fleet.isOver, !isStopped.withLock({ $0 }) {
      let elapsed = start.duration(to: clock.now)
      for step in fleet.steps(until: elapsed) {
        try await backend.perform(step)
        view.observe(step)
      }
      view.draw(elapsed: elapsed)
      try await clock.sleep(for: .milliseconds(50))
    }
    try await waitForVerdicts(backend.session)
    view.draw(elapsed: start.duration(to: clock.now))
  }

  private static let open = Statement(
    name: "demo_open",
    sql: """
      select (select count(*) from ridepulse.events)
        + (select count(*) from ridepulse.ledger where \(isUndecided))
      """)

  /// What waits for a time of its own, such as the rating two hours later, outlives the demo.
  private static let isUndecided =
    "status = 'pending' and reason_code is distinct from '\(LedgerReason.Engine.waiting.rawValue)'"

  /// Waits until every event is consumed and every push has its verdict, for at most 30 s.
  private func waitForVerdicts(_ session: PostgresSession) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let results = try await session.run([Call(Self.open)])
      if results[0].int64(0, 0) == 0 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private static let tally = Statement(
    name: "demo_tally",
    sql: """
      select status, count(*), round(percentile_cont(0.5) within group (
        order by extract(epoch from finished_at - occurred_at) * 1000)::numeric, 1),
        count(*) filter (where \(isUndecided)),
        count(*) filter (where device_id in (
          select id from ridepulse.devices where platform = 'android'))
      from ridepulse.ledger group by status order by count(*) desc
      """)

  /// Prints the final counts of the ledger. A push that was neither accepted nor suppressed for a
  /// stated reason, nor waits for its time, is a failure.
  private func summary(_ session: PostgresSession, _ view: DemoView) async throws -> ExitStatus {
    let rows = try await session.run([Call(Self.tally)])[0]
    let totals = view.totals
    Terminal.print("\n\(totals.rides) rides, \(totals.changes) changes; the ledger:")
    var hasFailed = rows.rowCount == 0
    for row in 0..<rows.rowCount {
      let status = rows.string(row, 0) ?? ""
      let median = rows.string(row, 2).map { ", half of them within \($0) ms of the change" }
      let isAccepted = status == LedgerEntry.Status.accepted.rawValue
      Terminal.print(
        "  \(rows.string(row, 1) ?? "") \(status)"
          + (isAccepted ? (median ?? "") + ofAndroid(rows.int64(row, 4)) : ""))
      let isFine =
        switch LedgerEntry.Status(rawValue: status) {
        case .accepted, .suppressed: true
        case .pending: rows.int64(row, 3) == 0
        default: false
        }
      if !isFine { hasFailed = true }
    }
    return hasFailed ? .failed : .done
  }
  private func ofAndroid(_ count: Int64?) -> String {
    hasAndroid ? "; \(count ?? 0) of them by FCM, the others by APNs" : ""
  }
}
