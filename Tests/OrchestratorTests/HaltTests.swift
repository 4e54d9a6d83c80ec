import Base
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

/// Tests an engine while settlements fail.
@Suite struct HaltTests {
  @Test func `nothing is claimed while nothing can be settled, and leases are kept`() async throws {
    let store = CheckingStore()
    let transport = StrictTransport()
    let said = Mutex<[String]>([])
    let log = Log { _, event, _ in said.withLock { $0.append(event.message) } }
    store.state.withLock { $0.refusal = { _ in StoreFailure(.refused, "42501") } }
    store.emit("a")
    let engine = try EngineTests.engine(store, transport, log: log)
    async let running: Void = engine.run()
    await store.wait { $0.checks >= 2 && !$0.renewals.isEmpty }
    #expect(engine.settlementHalt?.failure.description == "42501")
    #expect(engine.statistics.settlementFailing > .zero)
    #expect(engine.stalls() == [], "a restart would not help")
    store.emit("b")
    engine.wake()
    await store.wait { $0.checks >= 4 }
    var state = store.state.withLock { $0 }
    #expect(transport.taken.count == 1)
    #expect(state.parked.isEmpty && state.renewals.allSatisfy { $0 == ["a"] })
    store.state.withLock { $0.refusal = { _ in nil } }
    await store.wait { $0.settled.count == 2 }
    engine.stop()
    await running
    state = store.state.withLock { $0 }
    #expect(transport.taken.count == 2 && state.endings == 1)
    #expect(engine.settlementHalt == nil)
    let lines = said.withLock { $0 }
    #expect(lines.count { $0 == "Settlement failed, claiming paused" } == 1, "\(lines)")
    #expect(lines.count { $0 == "Settlement succeeded, claiming resumed" } == 1, "\(lines)")
  }

  @Test func `one bad ride is parked, and the others are settled`() async throws {
    let store = CheckingStore()
    store.state.withLock {
      $0.refusal = { $0 == "ride-7" ? StoreFailure(.refused, "P0001") : nil }
    }
    for ride in 0..<50 { store.emit("ride-\(ride)") }
    let transport = StrictTransport()
    await EngineTests.run(try EngineTests.engine(store, transport), store) {
      $0.settled.count == 49 && $0.parked == ["ride-7"]
    }
    #expect(transport.taken.count == 50)
  }

  @Test func `a locked ride is settled once it is free`() async throws {
    let store = CheckingStore()
    store.state.withLock { $0.locked = ["ride-1"] }
    for ride in 0..<3 { store.emit("ride-\(ride)") }
    let engine = try EngineTests.engine(store, StrictTransport())
    async let running: Void = engine.run()
    await store.wait { $0.settled.count == 2 }
    store.emit("ride-5")
    await store.wait { $0.settled.count == 3 && !$0.renewals.isEmpty }
    store.state.withLock { $0.locked = [] }
    await store.wait { $0.settled.count == 4 }
    engine.stop()
    await running
  }

  @Test func `a stop ends though settling fails, and so does --once`() async throws {
    let store = CheckingStore()
    store.state.withLock { $0.refusal = { _ in StoreFailure(.unavailable, "away") } }
    store.emit("a")
    var settings = EngineSettings.patient
    settings.settleLimit = .milliseconds(100)
    settings.haltLimit = .milliseconds(100)
    func engine() throws -> Engine {
      Engine(
        EngineDependencies(
          store: store, transport: StrictTransport(),
          configuration: try EngineTests.configuration(),
          log: Log { _, _, _ in }), settings: settings)
    }
    let first = try engine()
    async let running: Void = first.run()
    await store.wait { !$0.renewals.isEmpty }
    first.stop()
    await running
    store.stealLeases()
    let second = try engine()
    await #expect(throws: StoreFailure(.unavailable, "away")) { try await second.runOnce() }
  }

  @Test func `a claim that times out is repeated with fewer rides, and grows again`() async throws {
    let store = CheckingStore()
    for ride in 0..<300 { store.emit("ride-\(ride)") }
    store.state.withLock {
      $0.failures = Array(repeating: StoreFailure(.timeout, "57014"), count: 3)
    }
    await EngineTests.run(try EngineTests.engine(store, StrictTransport()), store) {
      $0.settled.count == 300
    }
    let limits = store.state.withLock { $0.claims.map(\.limit) }
    #expect(limits.first == 62, "\(limits)")
  }
}
