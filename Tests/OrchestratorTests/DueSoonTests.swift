import Base
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct DueSoonTests {
  @Test func `a ride that is due soon after its settlement is claimed then, not at the next poll`()
    async throws
  {
    let store = CheckingStore()
    let start = ContinuousClock.now
    store.state.withLock { state in
      state.notifies = true
      state.clock = {
        Timestamp(epochSeconds: 1_800_000_000) + (ContinuousClock.now - start)
      }
    }
    let attempts = Mutex(0)
    let transport = StrictTransport { _ in
      let isFirst = attempts.withLock { attempts in
        attempts += 1
        return attempts == 1
      }
      return isFirst ? .unanswered(.timeout) : .accepted
    }
    var settings = EngineSettings.patient
    settings.pollInterval = .seconds(3600)
    let engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: try EngineTests.configuration(),
        log: Log { _, _, _ in }), settings: settings)
    // Two claims, after which the node rests until it is notified.
    async let running: Void = engine.run()
    await store.wait { $0.claims.count == 2 }
    store.emit("r")
    engine.wake()
    await store.wait { $0.entries.contains { $0.status == .accepted } }
    engine.stop()
    await running
    #expect(transport.taken.count == 2)
  }
}
