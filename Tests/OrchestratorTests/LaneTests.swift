import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct LaneTests {
  private static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
  private static func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

  /// One alert of each app about the same event.
  private static func bothApps() throws -> EngineConfiguration {
    var alert = Alert()
    alert.title = LocalizedText(try TextTemplate("Arrived"))
    let rules = [App.customer, .driver].map { app in
      Rule(
        name: "arrived_\(app)", app: app, when: .on(["driver_arrived"]), what: .alert(alert),
        expires: .after(.seconds(300)), source: "test.yaml:1")
    }
    return EngineConfiguration(
      rules: RuleSet(
        activeStates: ["driver_arrived"], finalStates: [], events: [], rules: rules),
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
  }

  private func failing(_ count: Int = 20) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for _ in 0..<count { _ = breaker.record(Self.refused, at: Self.start) }
    return breaker
  }

  @Test func `opens after at least twenty outcomes, three in five of them failures`() {
    var breaker = failing(19)
    #expect(breaker.admit(at: Self.start) == .go)
    let change = breaker.record(Self.refused, at: Self.start)
    #expect(change == .paused(until: Self.at(5), problems: 20, of: 20))
    #expect(breaker.admit(at: Self.at(4)) == .wait(until: Self.at(5)))
    breaker = CircuitBreaker()
    for _ in 0..<500 {
      #expect(breaker.record(.accepted, at: Self.start) == nil)
      #expect(breaker.record(Self.refused, at: Self.start) == nil)
    }
    #expect(breaker.admit(at: Self.start) == .go)
  }

  /// Refusals that are caused by the push itself do not pause the lane.
  @Test(arguments: [
    (410, "Unregistered"), (413, "PayloadTooLarge"), (400, "BadCollapseId"),
    (429, "TooManyRequests"),
  ])
  func `refusals of single pushes do not open it`(status: Int, reason: String) {
    var breaker = CircuitBreaker()
    for _ in 0..<500 {
      _ = breaker.record(.refused(Refusal(status: status, reason: reason)), at: Self.start)
    }
    #expect(breaker.admit(at: Self.start) == .go)
  }

  @Test func `half open, it admits one probe: accepted closes it, refused opens it for longer`() {
    var breaker = failing()
    #expect(breaker.admit(at: Self.at(5)) == .go)
    #expect(breaker.admit(at: Self.at(5)) == .wait(until: Self.at(6)))
    #expect(
      breaker.record(Self.refused, at: Self.at(6))
        == .paused(until: Self.at(16), problems: 20, of: 20))
    #expect(breaker.admit(at: Self.at(16)) == .go)
    #expect(breaker.record(.accepted, at: Self.at(17)) == .resumed)
    #expect(breaker.admit(at: Self.at(17)) == .go)
    #expect(breaker.admit(at: Self.at(17)) == .go)
  }

  @Test func `a probe without an outcome is followed by another`() {
    var breaker = failing()
    #expect(breaker.admit(at: Self.at(5)) == .go)
    #expect(breaker.admit(at: Self.at(15)) == .wait(until: Self.at(16)))
    #expect(breaker.admit(at: Self.at(16)) == .go)
  }

  @Test func `R5: twenty minutes of 503 cost a push a minute, and then it closes`() {
    var breaker = CircuitBreaker()
    var tries = 0
    for second in 0..<1200 {
      for _ in 0..<100 where breaker.admit(at: Self.at(Int64(second))) == .go {
        tries += 1
        _ = breaker.record(Self.refused, at: Self.at(Int64(second)))
      }
    }
    // The first twenty, the probes at 5, 15, 35, 75 s, and one a minute from there.
    #expect((40...46).contains(tries), "\(tries)")
    var first: Int64 = 1200
    while breaker.admit(at: Self.at(first)) != .go { first += 1 }
    #expect(first <= 1260)
    #expect(breaker.record(.accepted, at: Self.at(first)) == .resumed)
  }

  @Test
  func `R13, R15: refusals of one app pause it alone, are logged once and invalidate no token`()
    async throws
  {
    let store = CheckingStore()
    for ride in 0..<1000 { store.emit("ride-\(ride)") }
    let errors = Mutex<[String]>([])
    let log = Log { level, message, _ in
      if level == .error { errors.withLock { $0.append(message) } }
    }
    // APNs refuses the customer app because of its topic, and accepts the driver app.
    let transport = StrictTransport { request in
      request.lane == "customer"
        ? .refused(Refusal(status: 400, reason: "DeviceTokenNotForTopic")) : .accepted
    }
    store.state.withLock { state in
      for ride in 0..<50 {
        var row = Ride(id: "other-\(ride)", state: "driver_arrived")
        row.driverID = "d"
        let phone = Phone(
          id: 2, app: .driver, ownerID: "d", token: "aabb", environment: .production)
        state.views[row.id] = RideView(rideID: row.id, ride: row, phones: [phone])
        state.events[row.id] = [
          RideEvent(id: Int64(5000 + ride), name: "driver_arrived", at: state.now)
        ]
      }
    }
    var settings = EngineSettings()
    settings.batch = 25
    settings.pollInterval = .milliseconds(20)
    let engine = Engine(
      EngineParts(
        store: store, transport: transport, configuration: try Self.bothApps(), log: log),
      settings: settings)
    await EngineTests.run(engine, store) { $0.settled.count == 1050 }
    let entries = store.state.withLock { $0.entries }
    let refused = transport.taken.count { $0.lane == "customer" }
    #expect(refused < 120, "\(refused)")
    #expect(entries.count { $0.status == .accepted } == 50)
    #expect(
      entries.count { $0.reason?.text == "the app's pushes are paused: APNs refuses them" } > 800)
    #expect(errors.withLock { $0.count } == 1)
    #expect(store.state.withLock { $0.gone } == [])
  }
}
