package import RideCore

/// How much an engine takes on, and how long it may take.
package struct EngineSettings: Sendable {
  /// The most rides that one claim takes.
  package var batch = 500
  /// The most rides that the node holds at once.
  package var maximumInFlight = 2000
  /// The most rides that one settlement writes.
  package var settlementBatch = 1000
  /// How long after its claim a ride may still be sent: well within its lease. A node that slept in
  /// between would send what another has sent since.
  package var sendWithin: Duration = .seconds(15)
  /// How long after its claim a ride's next push to the same phone may leave: its answer comes
  /// within a push's deadline (10 s), and that within the lease.
  package var followWithin: Duration = .seconds(5)
  /// How far this machine's clock may be from the database's before somebody should know.
  package var toleratedSkew: Duration = .seconds(30)
  /// How often a ride's journal is tried before the ride is left to its lease.
  package var journalAttempts = 6
  /// How long a graceful stop waits for answers.
  package var drainLimit: Duration = .seconds(10)
  /// How long after that it tries to settle what still fails.
  package var settleLimit: Duration = .seconds(3)
  /// How often leases are renewed while settlements fail: several times in a lease.
  package var renewInterval: Duration = .seconds(4)
  /// How long settlements may fail before `runOnce` gives up.
  package var haltLimit: Duration = .seconds(30)
  /// The bytes of JSON in held rides beyond which no more are claimed.
  package var maximumText = 64 << 20
  /// How long the node rests where nothing wakes it.
  package var pollInterval: Duration = .seconds(2)
  /// How long a turn of a loop may take before the loop counts as stuck: well above what ends a
  /// statement (10 s) and a rest (5 s).
  package var longestTurn: Duration = .seconds(60)

  /// What a service runs with.
  package init() {}
}

/// What an engine is made of besides its settings.
package struct EngineParts: Sendable {
  /// Where the rides are.
  package var store: any RideStore
  /// The way to APNs.
  package var transport: any PushTransport
  /// What decisions go by.
  package var configuration: EngineConfiguration
  /// Where the engine says what happened.
  package var log: Log
  /// What it waits by.
  package var clock: any Clock<Duration>
  /// The database's time, which each claim tells anew.
  package var time: DatabaseTime
  /// Is told each ledger row once it is written; must not block.
  package var onSettled: @Sendable ([Settlement]) -> Void

  /// An engine that waits by the machine's own clock.
  package init(
    store: any RideStore, transport: any PushTransport, configuration: EngineConfiguration,
    log: Log,
    time: DatabaseTime = .ofThisMachine(),
    onSettled: @escaping @Sendable ([Settlement]) -> Void = { _ in }
  ) {
    self.store = store
    self.transport = transport
    self.configuration = configuration
    self.log = log
    self.time = time
    self.onSettled = onSettled
    clock = ContinuousClock()
  }
}
