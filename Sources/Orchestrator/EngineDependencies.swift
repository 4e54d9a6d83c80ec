package import Base
package import RideCore

/// The dependencies of an engine.
package struct EngineDependencies: Sendable {
  package var store: any RideStore
  package var transport: any PushTransport
  package var configuration: EngineConfiguration
  package var log: Log
  /// Which rides are recorded; nil for none.
  package var recording: RecordSample?
  /// The clock that measures the engine's waits.
  package var clock: any Clock<Duration>
  /// The estimate of the database's time, which each claim updates.
  package var time: DatabaseClock
  /// What the engine decides now.
  package let decisionWatch = DecisionWatch()
  /// Called before each decision, for tests; nil for none.
  package var onDecide: (@Sendable (RideView) -> Void)?
  /// Receives settlements after they are written; must not block.
  package var onSettled: @Sendable ([Settlement]) -> Void
  /// Receives each decision once its pushes have ended, with their outcomes; must not block.
  package var onSent: @Sendable (Decision, [PushOutcome]) -> Void
  /// Receives the spans of rides after they are settled; must not block. Nil if none are made.
  package var onSpans: (@Sendable ([TraceSpan]) -> Void)?
  /// Called when nothing has been due or in flight for a while after the start or after much work.
  package var onRest: @Sendable () -> Void

  /// Creates the dependencies of an engine that waits by the system's continuous clock.
  package init(
    store: any RideStore, transport: any PushTransport, configuration: EngineConfiguration,
    log: Log,
    time: DatabaseClock = .ofThisMachine(), recording: RecordSample? = nil,
    onSettled: @escaping @Sendable ([Settlement]) -> Void = { _ in },
    onSent: @escaping @Sendable (Decision, [PushOutcome]) -> Void = { _, _ in },
    onRest: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.transport = transport
    self.configuration = configuration
    self.log = log
    self.time = time
    self.recording = recording
    self.onSettled = onSettled
    self.onSent = onSent
    self.onRest = onRest
    clock = ContinuousClock()
  }
}
