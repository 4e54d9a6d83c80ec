import Base
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite struct LaneTests {
  private static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
  private static func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

  private func stormy(_ count: Int = 20) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for _ in 0..<count { _ = breaker.record(Self.refused, at: Self.start) }
    return breaker
  }

  @Test func `twenty troubles and three in five close a lane, and no fewer`() {
    var breaker = stormy(19)
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
  func `refusals of single pushes close nothing`(status: Int, reason: String) {
    var breaker = CircuitBreaker()
    for _ in 0..<500 {
      _ = breaker.record(.refused(Refusal(status: status, reason: reason)), at: Self.start)
    }
    #expect(breaker.admit(at: Self.start) == .go)
  }

  /// The status and reason of a refusal, the owner of its token, and whether it pauses the lane.
  private static let tokens: [(Int, String, TokenOwner, Bool)] = [
    (400, "BadDeviceToken", .unknown, false), (400, "DeviceTokenNotForTopic", .unknown, false),
    (410, "Unregistered", .unknown, false),
    (400, "BadDeviceToken", .phone(1), true), (400, "DeviceTokenNotForTopic", .phone(1), true),
    (400, "BadDeviceToken", .card, true),
    // These concern all pushes, whatever the token.
    (400, "BadTopic", .unknown, true), (403, "InvalidProviderToken", .unknown, true),
    (503, "Shutdown", .unknown, true),
  ]

  @Test(arguments: tokens.indices)
  func `R106: refused tokens of raw pushes without a phone pause nothing`(index: Int) {
    let (status, reason, owner, pauses) = Self.tokens[index]
    let refused = PushOutcome.refused(Refusal(status: status, reason: reason))
    var breaker = CircuitBreaker()
    for _ in 0..<100 { _ = breaker.record(refused, to: owner, at: Self.start) }
    #expect(breaker.isPaused == pauses)
  }

  @Test func `R106: such a refusal neither ends a pause nor prolongs it, and the next push probes`()
  {
    var breaker = stormy()
    #expect(breaker.admit(at: Self.at(5)) == .go)
    let bad = PushOutcome.refused(Refusal(status: 400, reason: "BadDeviceToken"))
    #expect(breaker.record(bad, to: .unknown, at: Self.at(6)) == nil)
    #expect(breaker.isPaused)
    #expect(breaker.admit(at: Self.at(6)) == .go)
    #expect(breaker.admit(at: Self.at(6)) == .wait(until: Self.at(7)))
    #expect(breaker.record(.accepted, at: Self.at(7)) == .resumed)
  }

  @Test func `one probe at a time; accepted it resumes the lane, refused it pauses it for longer`()
  {
    var breaker = stormy()
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

  /// An outcome, and what a pause by it is called.
  private static let causes: [(PushOutcome, PauseCause)] = [
    (.unsent(.noConnection("Connection refused")), .unreachable),
    (.unsent(.queuedTooLong), .unreachable), (.unanswered(.timeout), .unreachable),
    (.unanswered(.connectionLost("reset")), .unreachable),
    (.unsent(.certificateRefused("bad certificate")), .refused),
    (.refused(Refusal(status: 403, reason: "InvalidProviderToken")), .refused),
    (.refused(Refusal(status: 503, reason: "ServiceUnavailable")), .refused),
  ]

  @Test(arguments: causes.indices)
  func `U15: a pause names its cause`(index: Int) {
    let (outcome, cause) = Self.causes[index]
    var breaker = CircuitBreaker()
    for _ in 0..<20 { _ = breaker.record(outcome, at: Self.start) }
    #expect(breaker.cause == cause)
    let until = cause == .unreachable ? Self.at(2) : Self.at(5)
    #expect(breaker.admit(at: Self.at(1)) == .wait(until: until, cause))
  }

  @Test func `while APNs can't be reached, a push is tried every 15 seconds at least`() {
    var breaker = CircuitBreaker()
    for _ in 0..<20 { _ = breaker.record(.unanswered(.connectionLost("reset")), at: Self.start) }
    var now: Int64 = 0
    for pause in [2, 4, 8, 15, 15] as [Int64] {
      now += pause
      #expect(breaker.admit(at: Self.at(now - 1)) == .wait(until: Self.at(now), .unreachable))
      #expect(breaker.admit(at: Self.at(now)) == .go)
      _ = breaker.record(.unanswered(.connectionLost("reset")), at: Self.at(now))
    }
  }

  @Test func `U15: with a connection the next push is the probe, if none was there before`() {
    var breaker = CircuitBreaker()
    for _ in 0..<20 { _ = breaker.record(.unsent(.noConnection("refused")), at: Self.start) }
    // One that was open all the while ends no pause.
    let resumed = [true, false, true, true].map { isConnected in
      breaker.observe(isConnected: isConnected, at: Self.at(1))
    }
    #expect(resumed == [false, false, true, false])
    #expect(breaker.admit(at: Self.at(1)) == .go)
    #expect(breaker.admit(at: Self.at(1)) == .wait(until: Self.at(2), .unreachable))
    #expect(breaker.record(.accepted, at: Self.at(1)) == .resumed)
    // A connection changes nothing while APNs refuses.
    breaker = stormy()
    let resumes = [false, true].map { breaker.observe(isConnected: $0, at: Self.at(1)) }
    #expect(resumes == [false, false])
    #expect(breaker.admit(at: Self.at(1)) == .wait(until: Self.at(5)))
  }

  @Test func `a burst of posts to one receiver pauses nothing, and posts that fail do`() {
    var lanes = Lanes()
    let post = PostAddress(receiver: "sms", rule: "r")
    let lane = PushLane(network: .production, app: App(rawValue: post.lane))
    func record(_ outcome: PushOutcome) -> Bool {
      let changes = (0..<100).map { _ in
        lanes.record(outcome, of: lane, to: .card, at: Self.start)
      }
      return changes.contains { $0 != nil }
    }
    let pauses = [PushOutcome.unsent(.queuedTooLong), .unanswered(.timeout)].map(record)
    #expect(pauses == [false, true])
  }

  @Test func `U15: a replaced key closes the breakers of its lanes, and of no other`() {
    var lanes = Lanes()
    let own = PushLane(network: .production, app: .customer)
    let other = PushLane(network: .production, app: .driver)
    for lane in [own, other] {
      for _ in 0..<20 { _ = lanes.record(Self.refused, of: lane, to: .card, at: Self.start) }
    }
    let reset = lanes.reset { $0 == own }
    #expect(reset == [own])
    #expect(lanes.statistics.map(\.pausedBy) == [nil, .refused])
    let again = lanes.reset { $0 == own }
    #expect(again.isEmpty, "it was not paused")
  }

  @Test func `U15: a push of a paused lane is tried again within ten seconds`() throws {
    var lanes = Lanes()
    let lane = PushLane(network: .production, app: .customer)
    var seconds: Int64 = 0
    for _ in 0..<4 {
      for _ in 0..<20 { _ = lanes.record(Self.refused, of: lane, to: .card, at: Self.at(seconds)) }
      let request = try Self.request()
      if !lanes.admit([request], at: Self.at(seconds)).go.isEmpty {
        _ = lanes.record(Self.refused, of: lane, to: .card, at: Self.at(seconds))
      }
      seconds += 60
    }
    let paused = lanes.admit([try Self.request()], at: Self.at(181)).paused
    #expect(paused.map(\.outcome) == [.unsent(.paused(for: .seconds(10), by: .refused))])
    // One that was admitted before may be the probe.
    var again = try Self.request()
    again.sendWithin = .seconds(3)
    #expect(lanes.admit([again], at: Self.at(181)).go == [again])
  }

  private static func request() throws -> PushRequest {
    let event = RideEvent(id: 1, name: "driver_arrived", at: start)
    var ride = Ride(id: "r", state: "driver_arrived")
    ride.customerID = "c"
    let phone = Phone(id: 1, app: .customer, ownerID: "c", token: "aabb")
    let decision = decide(
      RideView(rideID: "r", ride: ride, events: [event], phones: [phone]),
      by: try EngineTests.configuration(), now: start)
    return try #require(decision.pushes.first).request
  }

  @Test func `a probe without a report is followed by another`() {
    var breaker = stormy()
    #expect(breaker.admit(at: Self.at(5)) == .go)
    #expect(breaker.admit(at: Self.at(15)) == .wait(until: Self.at(16)))
    #expect(breaker.admit(at: Self.at(16)) == .go)
  }

  @Test func `R5: during twenty minutes of 503 one push a minute is tried, then sending resumes`() {
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
  func
    `R13, R15: refusals in one environment pause its lane alone, are logged once and invalidate no token`()
    async throws
  {
    let store = CheckingStore()
    for ride in 0..<1000 { store.emit("ride-\(ride)") }
    let said = Mutex<[String]>([])
    let log = Log { level, event, _ in
      if level == .error { said.withLock { $0.append(event.message) } }
    }
    // APNs refuses production tokens because of their topic, and accepts sandbox tokens.
    let transport = StrictTransport { request in
      request.network == .production
        ? .refused(Refusal(status: 400, reason: "DeviceTokenNotForTopic")) : .accepted
    }
    store.state.withLock { state in
      for ride in 0..<50 {
        var row = Ride(id: "other-\(ride)", state: "driver_arrived")
        row.customerID = "c"
        let phone = Phone(
          id: 2, app: .customer, ownerID: "c", token: "aabb", environment: .sandbox)
        state.views[row.id] = RideView(rideID: row.id, ride: row, phones: [phone])
        state.events[row.id] = [
          RideEvent(id: Int64(5000 + ride), name: "driver_arrived", at: state.now)
        ]
      }
    }
    let engine = try EngineTests.engine(store, transport, batch: 25, log: log)
    await EngineTests.run(engine, store) { $0.settled.count == 1050 }
    let entries = store.state.withLock { $0.entries }
    let refused = transport.taken.count { $0.network == .production }
    #expect(refused < 120, "\(refused)")
    #expect(entries.count { $0.status == .accepted } == 50)
    #expect(
      entries.count { $0.reason?.text == "the app's pushes are paused: APNs refuses them" } > 800)
    #expect(said.withLock { $0.count } == 1)
    #expect(store.state.withLock { $0.gone } == [])
  }
}
