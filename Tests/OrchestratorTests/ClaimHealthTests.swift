import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct ClaimHealthTests {
  private static let locked = StoreFailure(.conflict, "55P03: lock timeout")
  private static let refused = StoreFailure(.refused, "42501: permission denied for table rides")

  @Test func `U1: a failure lasts from the first claim that failed, and is logged once a minute`() {
    var health = ClaimHealth()
    func isLogged(_ failure: StoreFailure, at uptime: Duration) -> Bool {
      health.failed(failure, at: uptime)
    }
    func ended() -> ClaimHealth.Failure? { health.succeeded() }
    health.begin(at: .seconds(10))
    #expect(health.failure == nil)
    #expect(isLogged(Self.refused, at: .seconds(11)))
    for second in 12..<71 {
      health.begin(at: .seconds(second))
      #expect(!isLogged(Self.refused, at: .seconds(second)), "\(second)")
    }
    #expect(isLogged(Self.refused, at: .seconds(71)))
    #expect(isLogged(Self.locked, at: .seconds(72)), "another reason")
    #expect(health.failure == .init(since: .seconds(10), failure: Self.locked))
    #expect(ended() == .init(since: .seconds(10), failure: Self.locked))
    #expect(health.failure == nil)
    #expect(ended() == nil)
  }

  @Test func `U1: a failing loop has one line in the log, and the engine reports since when`()
    async throws
  {
    let log = LogLines()
    let store = CheckingStore()
    let engine = try EngineTests.engine(store, StrictTransport(), log: log.log)
    store.state.withLock { $0.failures = Array(repeating: Self.refused, count: 12) }
    store.emit("r")
    await EngineTests.run(engine, store) { $0.settled.count == 1 }
    #expect(log.count(of: "Claim failed, claiming fewer rides") == 1)
    #expect(log.count(of: "Claim failed, retrying") == 0)
    #expect(log.count(of: "Claim succeeded again") == 1)
    #expect(engine.claimFailure(lasting: .zero) == nil)
  }
}
