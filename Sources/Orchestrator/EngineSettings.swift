/// The limits of an engine on rides, bytes and times.
package struct EngineSettings: Sendable {
  /// The maximum number of rides per claim.
  package var batch = 500
  /// The maximum number of rides that the node holds at one time.
  package var maximumInFlight = 2000
  /// The maximum number of rides per settlement.
  package var settlementBatch = 1000
  /// How long after its claim a ride may still be sent: well within its lease.
  ///
  /// A node that was suspended for longer could repeat what another node has sent since.
  package var sendWithin: Duration = .seconds(15)
  /// How long after its claim a ride's next push to the same phone may be sent.
  ///
  /// Its outcome arrives within the deadline of a push (10 s), which must end within the lease.
  package var followWithin: Duration = .seconds(5)
  /// The difference between this machine's clock and the database's that causes a warning.
  package var toleratedSkew: Duration = .seconds(30)
  /// How long rides whose last claim ended with its node wait until no other ride is in flight.
  package var apartWithin: Duration = .seconds(1)
  /// How often writing a ride's journal is attempted before the ride is left to its lease.
  package var journalAttempts = 6
  /// How long a graceful stop waits for the outcomes of pushes.
  package var drainLimit: Duration = .seconds(10)
  /// How long a stop then retries failing settlements.
  package var settleLimit: Duration = .seconds(3)
  /// The interval of lease renewals while settlements fail: a fraction of the lease.
  package var renewInterval: Duration = .seconds(4)
  /// How long settlements may fail before `runOnce` throws.
  package var haltLimit: Duration = .seconds(30)
  /// The size of the JSON in held rides, in bytes, above which no further rides are claimed.
  package var maximumText = 64 << 20
  /// The maximum rest between claims without a notification.
  package var pollInterval: Duration = .seconds(2)
  /// How long events wait that may have been committed while their ride was held.
  package var missedDelay: Duration = .milliseconds(10)
  /// How long a turn of a loop may take before the loop counts as stuck.
  ///
  /// It is well above the limits of a statement (10 s) and of a rest (5 s).
  package var longestTurn: Duration = .seconds(60)

  /// Creates the settings of a service.
  package init() {}
}
