import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct CallHealthTests {
  private static let locked = StoreFailure(.conflict, "55P03: lock timeout")
  private static let refused = StoreFailure(.refused, "42501: permission denied for table rides")

  @Test func `U1: a failure lasts from the first call that failed, and is logged ever less often`()
  {
    var health = CallHealth()
    func isLogged(_ failure: StoreFailure, at uptime: Duration) -> Bool {
      health.failed(failure, at: uptime)
    }
    func ended(at uptime: Duration) -> CallHealth.Failure? { health.succeeded(at: uptime) }
    health.begin(at: .seconds(10))
    #expect(health.failure == nil)
    #expect(isLogged(Self.refused, at: .seconds(11)))
    for second in 12..<71 {
      health.begin(at: .seconds(second))
      #expect(!isLogged(Self.refused, at: .seconds(second)), "\(second)")
    }
    #expect(isLogged(Self.refused, at: .seconds(71)))
    #expect(isLogged(Self.locked, at: .seconds(72)), "another reason")
    for second in [100, 130, 140] {
      #expect(!isLogged(Self.refused, at: .seconds(second)), "after two minutes")
    }
    #expect(health.failing(at: .seconds(141)) == .seconds(130))
    let failure = CallHealth.Failure(since: .seconds(10), failure: Self.refused)
    #expect(health.failure == failure)
    #expect(ended(at: .seconds(142)) == failure)
    #expect(health.failure == nil && health.failing(at: .seconds(142)) == nil)
    #expect(ended(at: .seconds(143)) == nil)
  }

  @Test(arguments: [(0, 1), (59, 1), (60, nil)] as [(Int, Int?)])
  func `a call that no ride needs any more does not count as failing for ever`(
    second: Int, failing: Int?
  ) {
    var health = CallHealth()
    health.begin(at: .seconds(9))
    _ = health.failed(Self.refused, at: .seconds(10))
    #expect(health.failing(at: .seconds(10 + second)) == failing.map { .seconds($0) })
  }

  @Test func `a call that goes on after a failure counts, and a failure of long ago does not`() {
    var health = CallHealth()
    _ = health.failed(Self.refused, at: .seconds(10))
    health.begin(at: .seconds(12))
    #expect(health.failing(at: .seconds(40)) == .seconds(30))
    _ = health.failed(Self.locked, at: .seconds(87))
    #expect(health.failing(at: .seconds(88)) == .seconds(77))
    health.begin(at: .seconds(400))
    #expect(health.failing(at: .seconds(401)) == nil)
    _ = health.failed(Self.refused, at: .seconds(402))
    #expect(health.failing(at: .seconds(403)) == .seconds(2))
  }

  @Test func `a node that claims nothing fails at nothing`() {
    var health = CallHealth()
    _ = health.failed(Self.refused, at: .seconds(10))
    health.pause()
    #expect(health.failure == nil)
    let isLogged = health.failed(Self.refused, at: .seconds(20))
    #expect(!isLogged, "the pause ends no failure in the log")
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
    #expect(engine.callFailures().isEmpty)
  }
}
