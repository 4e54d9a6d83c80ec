import Base
import PostgresStore
import RideCore

/// What a service repeats next to its engine.
struct ServiceTasks: Sendable {
  let outcomes, channels, backfills: PeriodicTask
  private let watchedTables, cardTypes, rules, phones, deletion: PeriodicTask
  private let rotations: [PeriodicTask]
  /// Empty if no spans are exported.
  private let receipts: [PeriodicTask]

  init(
    _ outcomes: OutcomeApplier, _ channels: ChannelReconciler, _ watched: WatchMonitor,
    _ backfills: BackfillMonitor, _ cardTypes: CardTypeRecorder, _ maintenance: Maintenance,
    _ rules: RulesInUse, _ traces: TraceRecorder?, _ log: Log
  ) {
    receipts =
      traces.map { traces in
        [
          PeriodicTask(
            .tracedReceipts, every: .seconds(5),
            retries: Backoff(first: .milliseconds(100), longest: .seconds(5)), log,
            work: traces.exchangeReceipts)
        ]
      } ?? []
    self.outcomes = PeriodicTask(
      .tokenOutcomes, every: .seconds(20),
      retries: Backoff(first: .milliseconds(100), longest: .seconds(3)), wokenBy: outcomes.signal,
      log, work: outcomes.apply)
    self.channels = PeriodicTask(
      .channels, every: .seconds(60), wokenBy: channels.signal, log,
      work: channels.reconcile)
    watchedTables = PeriodicTask(
      .watchedTables, every: .seconds(60), log, work: watched.check)
    self.cardTypes = PeriodicTask(.cardTypes, every: .seconds(60), log) {
      try await cardTypes.record(within: .seconds(10))
    }
    self.rules = PeriodicTask(
      .rules, every: .seconds(20),
      retries: Backoff(first: .milliseconds(500), longest: .seconds(20)), wokenBy: rules.signal,
      log, work: rules.check)
    phones = PeriodicTask(.phones, every: .seconds(60), log, work: maintenance.countPhones)
    rotations = [
      PeriodicTask(
        .ledger, every: .seconds(3600), log, work: maintenance.rotateLedger),
      PeriodicTask(
        .recorded, every: .seconds(3600), log,
        work: maintenance.rotateRecorded),
    ]
    deletion = PeriodicTask(
      .oldRows, every: .seconds(3600), log, work: maintenance.deleteOldRows)
    self.backfills = PeriodicTask(
      .backfills, every: .seconds(60), log, work: backfills.check)
  }

  /// What `serve --once` does when the rides are settled.
  var afterwards: [PeriodicTask] {
    [channels, watchedTables, rules] + rotations + [deletion] + receipts
  }

  /// When each that this service runs last succeeded, by this machine's clock; nil if it has not.
  var lastSuccesses: [ServiceTask: Timestamp?] {
    let all =
      [outcomes, rules, channels, watchedTables, cardTypes, phones] + rotations
      + [deletion, backfills] + receipts
    return Dictionary(
      uniqueKeysWithValues: all.map { ($0.task, $0.lastSuccess) })
  }

  /// Runs all of them until the task is cancelled.
  ///
  /// The first passes follow one another, so that a quiet service needs one session for them, and
  /// none waits for one that may take minutes.
  func run() async {
    await withTaskGroup { group in
      let repeated =
        [outcomes, rules, channels, watchedTables, cardTypes] + rotations + [phones]
        + receipts
      for task in repeated {
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
