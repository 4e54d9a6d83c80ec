import Base
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

@Suite("Lanes of FCM") struct FCMLaneTests {
  private static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let lane = PushLane(network: .android, app: .customer)
  private static let other = PushLane(network: .android, app: .driver)
  private static let ofAPNs = PushLane(network: .production, app: .customer)
  private static let gone = refused(404, "UNREGISTERED")

  private static func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

  private static func refused(
    _ status: Int, _ word: String, after seconds: Int64? = nil
  ) -> PushOutcome {
    .refused(
      Refusal(status: status, reason: word, retryAfter: seconds.map { .seconds($0) }))
  }

  private func record(
    _ outcome: PushOutcome, times: Int = 1, in lanes: inout Lanes, _ lane: PushLane = lane,
    at seconds: Int64 = 0
  ) -> [CircuitBreaker.Change] {
    (0..<times).compactMap { phone in
      lanes.record(outcome, of: lane, to: .phone(Int64(phone)), at: Self.at(seconds))
    }
  }

  private func paused(_ lanes: Lanes) -> [PushLane] {
    lanes.statistics.filter { $0.pausedBy != nil }
      .map { PushLane(network: $0.network, app: App(rawValue: $0.app)) }
  }

  @Test func `a lane is doubtful until a push of it was accepted`() {
    var lanes = Lanes()
    _ = record(Self.gone, in: &lanes)
    _ = record(.accepted, in: &lanes, Self.ofAPNs)
    #expect(lanes.doubtful == [Self.lane])
    _ = record(.accepted, in: &lanes, Self.other)
    #expect(lanes.doubtful == [Self.lane])
    _ = record(.accepted, in: &lanes)
    #expect(lanes.doubtful.isEmpty)
  }

  @Test func `a lane of APNs needs no proof`() {
    var lanes = Lanes()
    _ = record(Self.refused(410, "Unregistered"), times: 100, in: &lanes, Self.ofAPNs)
    #expect(lanes.doubtful.isEmpty)
    #expect(paused(lanes).isEmpty)
  }

  @Test func `another service account has to prove its lane again`() {
    var lanes = Lanes()
    for lane in [Self.lane, Self.other] { _ = record(.accepted, in: &lanes, lane) }
    #expect(lanes.reset { $0 == Self.lane } == [], "it was not paused")
    #expect(lanes.doubtful == [Self.lane])
  }

  @Test(arguments: ["UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_REGISTRATION"])
  func `an account of another project pauses the lane, before any phone is harmed`(word: String) {
    var lanes = Lanes()
    let changes = record(Self.refused(404, word), times: 50, in: &lanes)
    #expect(changes.count == 1)
    #expect(paused(lanes) == [Self.lane])
    #expect(lanes.doubtful == [Self.lane])
  }

  @Test func `in a proved lane phones that are gone pause nothing`() {
    var lanes = Lanes()
    _ = record(.accepted, in: &lanes)
    #expect(record(Self.gone, times: 500, in: &lanes).isEmpty)
    #expect(lanes.doubtful.isEmpty)
  }

  @Test func `two phones of another project put a proved lane in doubt again`() {
    var lanes = Lanes()
    _ = record(.accepted, in: &lanes)
    _ = record(Self.refused(403, "SENDER_ID_MISMATCH"), times: 2, in: &lanes)
    #expect(lanes.doubtful == [Self.lane])
  }

  /// `retry-after`, and how long the lane pauses.
  @Test(arguments: [(nil, 60), (20, 20), (1_000_000_000, 300)] as [(Int64?, Int64)])
  func `a project's quota pauses its lane at once, and no other`(
    after: Int64?, pause: Int64
  ) throws {
    var lanes = Lanes()
    for lane in [Self.lane, Self.other, Self.ofAPNs] { _ = record(.accepted, in: &lanes, lane) }
    let quota = Self.refused(429, "QUOTA_EXCEEDED", after: after)
    #expect(
      record(quota, in: &lanes) == [.paused(until: Self.at(pause), problems: 1, of: 1)])
    #expect(paused(lanes) == [Self.lane])
    let request = try Self.request()
    #expect(lanes.admit([request], at: Self.at(pause - 1)).go.isEmpty)
    // One push tries it, and the others follow once it is accepted.
    let probe = lanes.admit([request, request], at: Self.at(pause))
    #expect(probe.go.count == 1)
    #expect(probe.paused.count == 1)
    #expect(record(.accepted, in: &lanes, at: pause) == [.resumed])
  }

  @Test func `a later answer of the quota prolongs the pause, an earlier one does not end it`()
    throws
  {
    var lanes = Lanes()
    _ = record(Self.refused(429, "QUOTA_EXCEEDED", after: 30), in: &lanes)
    #expect(record(Self.refused(429, "QUOTA_EXCEEDED", after: 5), in: &lanes).isEmpty)
    let request = try Self.request()
    #expect(lanes.admit([request], at: Self.at(29)).go.isEmpty)
    #expect(record(Self.refused(429, "QUOTA_EXCEEDED", after: 50), in: &lanes).isEmpty)
    #expect(lanes.admit([request], at: Self.at(49)).go.isEmpty)
    #expect(lanes.admit([request], at: Self.at(50)).go.count == 1)
    // The probe may be refused, too.
    #expect(record(Self.refused(429, "QUOTA_EXCEEDED", after: 9), in: &lanes, at: 50).isEmpty)
    #expect(lanes.admit([request], at: Self.at(58)).go.isEmpty)
    #expect(lanes.admit([request], at: Self.at(59)).go.count == 1)
  }

  /// An answer, and whether many of them pause the lane.
  @Test(arguments: [
    (429, "DEVICE_QUOTA_EXCEEDED", false), (400, "INVALID_ARGUMENT", false),
    (401, "THIRD_PARTY_AUTH_ERROR", false), (500, "UNSPECIFIED_ERROR", false),
    (401, "UNAUTHENTICATED", true), (403, "PERMISSION_DENIED", true),
    (404, "PROJECT_NOT_FOUND", true), (400, "TOKEN_ENDPOINT", true), (500, "INTERNAL", true),
    (503, "UNAVAILABLE", true),
  ])
  func `what is of the service or its account pauses the lane, what is of a push does not`(
    status: Int, word: String, pauses: Bool
  ) {
    var lanes = Lanes()
    _ = record(.accepted, in: &lanes)
    _ = record(Self.refused(status, word), times: 100, in: &lanes)
    #expect(paused(lanes).isEmpty == !pauses)
  }

  @Test(arguments: ["UNREGISTERED", "SENDER_ID_MISMATCH"])
  func `with an account of another project no phone is disabled, and the lane pauses`(
    word: String
  ) async throws {
    let store = CheckingStore()
    let now = store.state.withLock { $0.now }
    store.add(
      (0..<50).map { index in
        var ride = Ride(id: RideID("ride-\(index)"), state: "driver_arrived")
        ride.customerID = OwnerID("c\(index)")
        // Half of them are tokens, half are installation IDs.
        let fid = "cX3fUGh9R0uVxK2mQ7wE" + (index < 10 ? "0\(index)" : "\(index)")
        var phone = Phone(
          id: Int64(index), app: .customer, ownerID: OwnerID("c\(index)"),
          token: index % 2 == 0 ? fid : fid + ":APA91b")
        phone.platform = .android
        let event = RideEvent(id: Int64(index + 1), name: "driver_arrived", at: now)
        return RideView(rideID: ride.id, ride: ride, events: [event], phones: [phone])
      }, at: now)
    let transport = StrictTransport { _ in
      .refused(Refusal(status: 404, reason: word, timestamp: now))
    }
    let said = Mutex<[String]>([])
    let log = Log { level, event, _ in
      if level == .error { said.withLock { $0.append(event.message) } }
    }
    let engine = try EngineTests.engine(store, transport, batch: 5, log: log)
    await EngineTests.run(engine, store) { $0.settled.count == 50 }
    #expect(
      said.withLock { $0 } == ["Lane paused: FCM refuses its pushes; check the service account"])
    let (gone, entries) = store.state.withLock { ($0.gone, $0.entries) }
    #expect(gone.isEmpty)
    let refused = transport.taken.count
    #expect((20..<50).contains(refused), "\(refused)")
    #expect(
      entries.count {
        $0.reason?.text == "the app's pushes are paused: FCM refuses them"
      } == 50 - refused)
    #expect(transport.faults.isEmpty)
  }

  static func request() throws -> PushRequest {
    let registration = try #require(FCMRegistration("cX3fUGh9R0uVxK2mQ7wE1a"))
    var request = PushRequest(
      network: .android, address: .registration(registration),
      headers: PushHeaders(
        id: PushID(of: "push"), topic: "", pushType: .alert, priority: .immediate,
        expiration: .neverStore), payload: [])
    request.lane = App.customer.rawValue
    return request
  }
}
