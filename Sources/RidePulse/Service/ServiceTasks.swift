import Base
import PostgresStore
import RideCore

/// What a service repeats next to its engine.
struct ServiceTasks: Sendable {
  let outcomes, channels, backfills: PeriodicTask
  private let watchedTables, cardTypes, rules, deletion: PeriodicTask
  private let rotations: [PeriodicTask]

  init(
    _ outcomes: OutcomeApplier, _ channels: ChannelReconciler, _ watched: WatchMonitor,
    _ backfills: BackfillMonitor, _ cardTypes: CardTypeRecorder, _ maintenance: Maintenance,
    _ rules: RulesInUse, _ log: Log
  ) {
    self.outcomes = PeriodicTask(
      .tokenOutcomesNotApplied, every: .seconds(20),
      retries: Backoff(first: .milliseconds(100), longest: .seconds(3)), wokenBy: outcomes.signal,
      log, work: outcomes.apply)
    self.channels = PeriodicTask(
      .channelsNotReconciled, every: .seconds(60), wokenBy: channels.signal, log,
      work: channels.reconcile)
    watchedTables = PeriodicTask(
      .watchProblemsNotRead, every: .seconds(60), log, work: watched.check)
    self.cardTypes = PeriodicTask(.cardTypesNotRecorded, every: .seconds(60), log) {
      try await cardTypes.record(within: .seconds(10))
    }
    self.rules = PeriodicTask(
      .rulesNotCompared, every: .seconds(20),
      retries: Backoff(first: .milliseconds(500), longest: .seconds(20)), wokenBy: rules.signal,
      log, work: rules.check)
    rotations = [
      PeriodicTask(
        .ledgerNotRotated, every: .seconds(3600), log, work: maintenance.rotateLedger),
      PeriodicTask(
        .recordedNotRotated, every: .seconds(3600), log,
        work: maintenance.rotateRecorded),
    ]
    deletion = PeriodicTask(
      .oldRowsNotDeleted, every: .seconds(3600), log, work: maintenance.deleteOldRows)
    self.backfills = PeriodicTask(
      .tablesNotBackfilled, every: .seconds(60), log, work: backfills.check)
  }

  /// What `serve --once` does when the rides are settled.
  var afterwards: [PeriodicTask] { [channels, watchedTables, rules] + rotations + [deletion] }

  /// Runs all of them until the task is cancelled.
  ///
  /// The first passes follow one another, so that a quiet service needs one session for them, and
  /// none waits for one that may take minutes.
  func run() async {
    await withTaskGroup { group in
      for task in [outcomes, rules, channels, watchedTables, cardTypes] + rotations {
        if Task.isCancelled { return }
        await task.pass()
        group.addTask { await task.run() }
      }
      // The first backfill waits for nothing, and may itself take long.
      group.addTask {
        await backfills.pass()
        async let repeated: Void = backfills.run()
        await deletion.pass()
        await deletion.run()
        await repeated
      }
    }
  }
}
