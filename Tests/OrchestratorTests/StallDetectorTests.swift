import Base
import Dispatch
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct StallDetectorTests {
  private static let cases: [(String, @Sendable (inout StallDetector) -> Void, [String])] = [
    ("nothing has begun", { _ in }, []),
    (
      "a turn within its limit",
      { $0.beginTurn(.claiming, at: .seconds(40)) }, []
    ),
    (
      "a turn that outlives it",
      { $0.beginTurn(.claiming, at: .seconds(39)) }, ["claim loop stalled for 61 s"]
    ),
    (
      "a new turn counts from its own beginning",
      {
        $0.beginTurn(.settling, at: .seconds(1))
        $0.beginTurn(.settling, at: .seconds(90))
      }, []
    ),
    (
      "one waits, the other moves",
      {
        $0.beginWait(.settling, at: .seconds(1))
        $0.beginTurn(.claiming, at: .seconds(99))
      }, []
    ),
    (
      "one waits for a database that is away, the other asks it",
      {
        $0.beginWait(.claiming, at: .seconds(1))
        $0.beginTurn(.settling, at: .seconds(95))
      }, []
    ),
    (
      "each waits for the other",
      {
        $0.beginWait(.claiming, at: .seconds(1))
        $0.beginWait(.settling, at: .seconds(39))
      }, ["no ride in flight finishes: both loops wait for each other"]
    ),
    (
      "each waits for the other, not yet for long",
      {
        $0.beginWait(.claiming, at: .seconds(1))
        $0.beginWait(.settling, at: .seconds(41))
      }, []
    ),
    (
      "what may take any time is not judged",
      {
        $0.beginTurn(.claiming, at: .seconds(1))
        $0.suspend(.claiming)
      }, []
    ),
  ]

  @Test(arguments: cases.indices)
  func `a stall differs from a wait`(index: Int) {
    let (name, steps, expected) = Self.cases[index]
    var detector = StallDetector()
    steps(&detector)
    #expect(detector.stalls(at: .seconds(100), after: .seconds(60)) == expected, "\(name)")
  }

  /// A claim that never returns, as in a session whose thread hangs.
  @Test func `a claim that never ends is a stall, a failing database is not`()
    async throws
  {
    let uptime = Mutex(Duration.zero)
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { uptime.withLock { $0 } })
    let store = CheckingStore()
    let gate = DispatchSemaphore(value: 0)
    let entered = AsyncStream<Void>.makeStream()
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    let engine = Engine(
      EngineDependencies(
        store: store, transport: StrictTransport(), configuration: try EngineTests.configuration(),
        log: Log { _, _, _ in }, time: time), settings: settings)
    async let running: Void = engine.run()
    await store.wait { $0.claims.count >= 2 }
    // An hour passes, then the database fails for a while.
    uptime.withLock { $0 += .seconds(3600) }
    store.fail(3)
    await store.wait { $0.failures.isEmpty }
    #expect(engine.stalls() == [])
    store.state.withLock {
      $0.onClaim = {
        entered.continuation.finish()
        gate.wait()
      }
    }
    store.emit("r")
    for await _ in entered.stream {}
    uptime.withLock { $0 += .seconds(61) }
    #expect(engine.stalls() == ["claim loop stalled for 61 s"])
    let claims = store.state.withLock { $0.claims.count }
    gate.signal()
    await store.wait { $0.claims.count > claims + 2 }
    #expect(engine.stalls() == [])
    engine.stop()
    await running
    #expect(engine.stalls() == [])
  }
}
