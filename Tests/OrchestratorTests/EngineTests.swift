import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

@Suite struct EngineTests {
  static func configuration() throws -> EngineConfiguration {
    var alert = Alert()
    alert.title = LocalizedText(try TextTemplate("Your driver is here"))
    let rule = Rule(
      name: "arrived", app: .customer, when: .on(["driver_arrived"]), what: .alert(alert),
      expires: .after(.seconds(300)), source: "test.yaml:1")
    var configuration = EngineConfiguration(
      rules: RuleSet(
        activeStates: ["driver_arrived"], finalStates: [], events: [], rules: [rule]),
      bundleIDs: [.customer: "com.example.customer"])
    configuration.androidApps = [.customer]
    return configuration
  }

  static func engine(
    _ store: CheckingStore, _ transport: StrictTransport, maximumInFlight: Int = 2000,
    batch: Int = 500, time: DatabaseClock = .ofThisMachine(), log: Log = Log { _, _, _ in }
  ) throws -> Engine {
    var settings = EngineSettings.patient
    settings.maximumInFlight = maximumInFlight
    settings.batch = batch
    return Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: try configuration(), log: log, time: time
      ),
      settings: settings)
  }

  /// Runs the engine until a condition holds, then stops it.
  static func run(
    _ engine: Engine, _ store: CheckingStore,
    until condition: @escaping @Sendable (CheckingStore.State) -> Bool
  ) async {
    async let running: Void = engine.run()
    await store.wait(until: condition)
    engine.stop()
    await running
  }

  @Test func `R7: a local clock that differs from the database's is logged once`() async throws {
    let said = Mutex<[String]>([])
    let log = Log { level, event, _ in
      if level == .warning { said.withLock { $0.append(event.message) } }
    }
    let store = CheckingStore()
    store.state.withLock { $0.now = Timestamp(epochSeconds: 1_000_000_000) }
    for ride in 0..<5 { store.emit("ride-\(ride)") }
    await Self.run(try Self.engine(store, StrictTransport(), batch: 1, log: log), store) {
      $0.settled.count == 5
    }
    #expect(
      said.withLock { $0 } == [
        "Local clock differs from the database clock; using the database clock"
      ])
  }

  @Test func `R39: a node that slept between its claim and its pushes sends nothing`() async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport()
    store.emit("r")
    let uptime = Mutex(Duration.zero)
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { uptime.withLock { $0 } })
    // The process is suspended between the claim and its answer.
    store.state.withLock { $0.onClaim = { uptime.withLock { $0 = .seconds(16) } } }
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    let engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: try Self.configuration(),
        log: Log { _, _, _ in },
        time: time), settings: settings)
    await Self.run(engine, store) { $0.claims.count >= 3 }
    #expect(transport.taken.isEmpty)
    #expect(store.state.withLock { $0.holders.count } == 1, "left to its lease")
  }

  @Test func `R22: a push that expired while the claim's answer was delayed is not sent`()
    async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport()
    let uptime = Mutex(Duration.zero)
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { uptime.withLock { $0 } })
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    settings.sendWithin = .seconds(1000)
    let engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: try Self.configuration(),
        log: Log { _, _, _ in },
        time: time), settings: settings)
    // The first claim provides the time; during the next one the process is suspended for longer
    // than the push is valid.
    let attempts = Mutex(0)
    store.state.withLock { state in
      state.onClaim = {
        if attempts.withLock({
          $0 += 1; return $0
        }) == 1 {
          store.emit("b")
        } else {
          uptime.withLock { $0 = .seconds(301) }
        }
      }
    }
    store.emit("a")
    await Self.run(engine, store) { $0.entries.count == 2 }
    #expect(transport.taken.count == 1)
    #expect(store.state.withLock { $0.entries.map(\.status) } == [.accepted, .expired])
  }

  @Test func `U17: claims, settlements and the answers of each lane are timed`() async throws {
    let store = CheckingStore()
    let uptime = Mutex(Duration.zero)
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { uptime.withLock { $0 } })
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    // Each claim takes two seconds, each answer as long as the transport: nothing.
    store.state.withLock { $0.onClaim = { uptime.withLock { $0 += .seconds(2) } } }
    let engine = Engine(
      EngineDependencies(
        store: store, transport: StrictTransport(), configuration: try Self.configuration(),
        log: Log { _, _, _ in }, time: time), settings: settings)
    for ride in 0..<3 { store.emit("ride-\(ride)") }
    await Self.run(engine, store) { $0.settled.count == 3 }
    let statistics = engine.statistics
    let slow = try #require(DurationHistogram.bounds.firstIndex(of: 2.5))
    #expect(statistics.claims.counts[slow] > 0)
    #expect(statistics.claims.counts[slow] == statistics.claims.counts.reduce(0, +))
    #expect(statistics.settlements.counts.reduce(0, +) > 0)
    #expect(statistics.lanes.map { $0.answers.counts.reduce(0, +) } == [3])
  }

  /// R25: a push that must not repeat is journalled before it is sent.
  @Test func `a start leaves after it is journalled, and not without`() async throws {
    for failures in [0, 3, 99] {
      let store = CheckingStore()
      var ride = Ride(id: "r", state: "driver_arrived")
      ride.customerID = "c"
      let token = StartToken(
        id: 7, app: .customer, ownerID: "c", attributesType: "T", token: "5a",
        registeredAt: store.state.withLock { $0.now })
      let event = RideEvent(id: 1, name: "driver_arrived", at: token.registeredAt)
      store.add(
        [RideView(rideID: "r", ride: ride, events: [event], startTokens: [token])],
        at: token.registeredAt)
      let journalled = Mutex<[Bool]>([])
      let transport = StrictTransport(topics: ["com.example.customer.push-type.liveactivity"]) {
        _ in
        let isOpen = store.state.withLock { $0.memos["r"]?.starts[7]?.isOpen == true }
        journalled.withLock { $0.append(isOpen) }
        return .accepted
      }
      let engine = Engine(
        EngineDependencies(
          store: store, transport: transport, configuration: try Self.cardBook(),
          log: Log { _, _, _ in }), settings: .patient)
      store.state.withLock { $0.journalFailures = failures }
      await Self.run(engine, store) {
        $0.settled.count == 1 || (failures == 99 && $0.journalFailures <= 99 - 6)
      }
      #expect(journalled.withLock { $0 } == (failures == 99 ? [] : [true]))
      // As of no time: on a busy machine the stop takes longer than a failure counts.
      let failure = engine.state.withLock { $0.calls[.journal]?.failure }
      #expect((failure != nil) == (failures == 99))
      #expect(transport.faults == [])
    }
  }

  private static func cardBook() throws -> EngineConfiguration {
    var card = LiveActivity(attributesType: "T")
    card.contentState = ["status": .value(try TextTemplate("{{ride.state}}"))]
    card.start = ["driver_arrived"]
    let rule = Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(card),
      expires: .after(.seconds(300)), source: "test.yaml:1")
    return EngineConfiguration(
      rules: RuleSet(
        activeStates: ["driver_arrived"], finalStates: [], events: [], rules: [rule]),
      bundleIDs: [.customer: "com.example.customer"])
  }

  @Test func `every event is settled once, through failures of the database`() async throws {
    let store = CheckingStore()
    let transport = StrictTransport()
    for ride in 0..<300 { store.emit("ride-\(ride)") }
    store.fail(4)
    await Self.run(try Self.engine(store, transport), store) { $0.settled.count == 300 }
    let state = store.state.withLock { $0 }
    #expect(state.settled.values.allSatisfy { $0 == 1 })
    #expect(state.entries.map(\.status) == Array(repeating: .accepted, count: 300))
    #expect(transport.taken.count == 300)
    #expect(transport.faults.isEmpty)
  }

  @Test func `it holds no more rides than it may`() async throws {
    let store = CheckingStore()
    for ride in 0..<200 { store.emit("ride-\(ride)") }
    let engine = try Self.engine(store, StrictTransport(), maximumInFlight: 16, batch: 8)
    await Self.run(engine, store) { $0.settled.count == 200 }
    let state = store.state.withLock { $0 }
    #expect(state.mostHeld <= 16)
    #expect(state.claims.allSatisfy { $0.rides <= $0.limit && $0.limit <= 8 })
  }

  @Test func `a lost lease is not settled, and the engine continues`() async throws {
    let store = CheckingStore()
    let transport = StrictTransport(answer: { _ in nil })
    store.emit("a")
    let engine = try Self.engine(store, transport)
    async let running: Void = engine.run()
    await store.wait { $0.holders.count == 1 }
    store.stealLeases()
    // The event is not consumed, so its ride is claimed again, under a higher fence.
    await store.wait { $0.holders.values.contains { $0 > 1 } }
    try await transport.releaseNext(2)
    await store.wait { $0.settled[1] == 1 }
    engine.stop()
    await running
    #expect(store.state.withLock { $0.entries.count } == 1)
    #expect(Set(transport.taken.map(\.headers.id)).count == 1)
  }

  @Test func `an event that comes while its ride is held is handled after its settlement`()
    async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport(answer: { _ in nil })
    store.emit("a")
    let engine = try Self.engine(store, transport)
    async let running: Void = engine.run()
    await store.wait { $0.holders.count == 1 }
    store.emit("a")
    engine.wake()
    let count = store.state.withLock { $0.claims.count }
    await store.wait { $0.claims.count > count }
    try await transport.releaseNext()
    await store.wait { $0.settled[1] == 1 }
    await store.wait { $0.holders.count == 1 }
    try await transport.releaseNext()
    await store.wait { $0.settled[2] == 1 }
    engine.stop()
    await running
  }

  @Test func `R56: a stop returns unsent pushes, due at once and not counted as attempts`()
    async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport(answer: { _ in nil })
    store.emit("a")
    let engine = try Self.engine(store, transport)
    await Self.run(engine, store) { $0.holders.count == 1 }
    let state = store.state.withLock { $0 }
    #expect(state.holders.isEmpty)
    #expect(state.memos["a"]?.waiting.map(\.entry.attempts) == [0])
    // The next engine sends it, under the same ID. The engine's time went on, the store's did not.
    store.advance(by: .seconds(200))
    let next = StrictTransport()
    await Self.run(try Self.engine(store, next), store) { $0.memos.isEmpty }
    #expect(next.taken.map(\.headers.id) == transport.taken.map(\.headers.id))
  }

  @Test func `runOnce handles due rides only, and rethrows the store's error`()
    async throws
  {
    let store = CheckingStore()
    let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
    store.emit("a")
    try await Self.engine(store, StrictTransport(answer: { _ in refused })).runOnce()
    #expect(store.state.withLock { $0.memos.count } == 1)
    store.advance(by: .seconds(120))
    try await Self.engine(store, StrictTransport()).runOnce()
    let state = store.state.withLock { $0 }
    #expect(state.memos.isEmpty)
    #expect(state.entries.map(\.status) == [.pending, .accepted])
    store.fail(1)
    await #expect(throws: CheckingStore.Failure.self) {
      try await Self.engine(store, StrictTransport()).runOnce()
    }
  }

  @Test func `random schedules: two engines, failures, stolen leases, every event once`()
    async throws
  {
    let seed = TestSeed.value(1)
    let random = Locked(SeededGenerator(seed: seed))
    let store = CheckingStore()
    let transports = (0..<2).map { _ in
      StrictTransport(answer: { _ in
        random.roll(10) == 0 ? .refused(Refusal(status: 503, reason: "Shutdown")) : .accepted
      })
    }
    let engines = try transports.map { try Self.engine(store, $0, maximumInFlight: 20, batch: 5) }
    await withTaskGroup { group in
      for engine in engines { group.addTask { await engine.run() } }
      for round in 1...40 {
        for _ in 0..<10 { store.emit("ride-\(random.roll(30))") }
        if random.roll(4) == 0 { store.fail(1) }
        store.advance(by: .seconds(1))
        engines[random.roll(2)].wake()
        await store.wait { $0.settled.count >= round * 5 }
      }
      await store.wait { $0.settled.count == 400 }
      for engine in engines { engine.stop() }
    }
    let state = store.state.withLock { $0 }
    #expect(state.settled.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    #expect(state.holders.isEmpty, "seed \(seed)")
    #expect(
      transports.allSatisfy { $0.faults.isEmpty }, "seed \(seed): \(transports.map(\.faults))")
  }
}
