import Base
import PostgresStore
import RideCore

/// What a service repeats next to its engine.
struct ServiceTasks: Sendable {
  let outcomes, channels, watchedTables, backfills, cardTypes: PeriodicTask
  let maintenance: [PeriodicTask]

  init(
    _ outcomes: OutcomeApplier, _ channels: ChannelReconciler, _ watched: WatchMonitor,
    _ backfills: BackfillMonitor, _ cardTypes: CardTypeRecorder, _ maintenance: Maintenance,
    _ log: Log
  ) {
    self.outcomes = PeriodicTask(
      "Token outcomes not applied", every: .seconds(20),
      retries: Backoff(first: .milliseconds(100), longest: .seconds(3)), wokenBy: outcomes.signal,
      log, work: outcomes.apply)
    self.channels = PeriodicTask(
      "Channels not reconciled", every: .seconds(60), wokenBy: channels.signal, log,
      work: channels.reconcile)
    watchedTables = PeriodicTask(
      "Problems of attached tables not read", every: .seconds(60), log, work: watched.check)
    self.backfills = PeriodicTask(
      "Attached tables not backfilled", every: .seconds(60), log, work: backfills.check)
    self.cardTypes = PeriodicTask("Types of cards not recorded", every: .seconds(60), log) {
      try await cardTypes.record(within: .seconds(10))
    }
    self.maintenance = [
      PeriodicTask(
        "Ledger not rotated", every: .seconds(3600), log, work: maintenance.rotateLedger),
      PeriodicTask(
        "Recorded passes not rotated", every: .seconds(3600), log,
        work: maintenance.rotateRecorded),
      PeriodicTask(
        "Old rows not deleted", every: .seconds(3600), log, work: maintenance.deleteOldRows),
    ]
  }

  /// Runs all of them until the task is cancelled.
  ///
  /// The first passes follow one another, and a backfill, which may take minutes, is the last: a
  /// quiet service needs one session for all of them.
  func run() async {
    let tasks = [outcomes, channels, watchedTables, cardTypes] + maintenance + [backfills]
    await withTaskGroup { group in
      for task in tasks {
        await task.pass()
        group.addTask { await task.run() }
      }
    }
  }
}
