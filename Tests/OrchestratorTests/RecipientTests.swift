import Base
import RideCore
import Synchronization
import Testing

@testable import Orchestrator

/// Pushes that could not be sent within a second of their decision.
@Suite struct RecipientTests {
  /// Removes a phone, as a sign-out does.
  private func signOut(_ id: Int64, _ ride: RideID, _ store: CheckingStore) {
    store.state.withLock { state in
      state.changed.insert(id)
      state.views[ride]?.phones = []
    }
  }

  private func addRides(_ count: Int, _ store: CheckingStore) {
    store.state.withLock { state in
      for number in 1...count {
        var row = Ride(id: RideID("ride-\(number)"), state: "driver_arrived")
        row.customerID = "c"
        let phone = Phone(id: Int64(number), app: .customer, ownerID: "c", token: "aa0\(number)")
        state.views[row.id] = RideView(rideID: row.id, ride: row, phones: [phone])
      }
    }
    for number in 1...count { store.emit(RideID("ride-\(number)")) }
  }

  @Test func `A5: what waited for a stream is sent if its phone is unchanged, by one read`()
    async throws
  {
    let store = CheckingStore()
    addRides(3, store)
    let waited = Mutex<Set<PushID>>([])
    let transport = StrictTransport { request in
      if waited.withLock({ $0.insert(request.headers.id).inserted }) {
        store.advance(by: .seconds(1))
        return .unsent(.outdated(left: .seconds(8)))
      }
      // It was read again within its second, and keeps what is left of its deadline.
      return request.sendWithin.map { $0 <= .seconds(8) } == true
        ? .accepted : .unanswered(.timeout)
    }
    signOut(2, "other", store)
    store.state.withLock { $0.onClaim = { self.signOut(2, "ride-2", store) } }
    // No time passes: on a busy machine eight seconds may, and every push would time out for ever.
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { .zero })
    let engine = try EngineTests.engine(store, transport, time: time)
    await EngineTests.run(engine, store) { state in
      state.entries.contains { $0.status == .suppressed }
        && state.entries.count { $0.status == .accepted } == 2
    }
    #expect(store.state.withLock { $0.rereads.map(\.count) } == [3])
    #expect(transport.taken.count { $0.address.text == "aa02" } == 1)
    let end = store.state.withLock { $0.entries.last { $0.phone == 2 || $0.tokenSuffix == "aa02" } }
    #expect(end?.status == .suppressed)
    #expect(end?.reason?.text == "the phone is disabled")
    #expect(transport.faults == [])
  }

  @Test func `A5: a follower is not sent on what was read before its predecessor's answer`()
    async throws
  {
    let store = CheckingStore()
    addRides(1, store)
    store.emit("ride-1")
    let uptime = Mutex(Duration.zero)
    let time = DatabaseClock(
      wall: { Timestamp(epochSeconds: 1_800_000_000) }, uptime: { uptime.withLock { $0 } })
    let transport = StrictTransport { _ in
      // The answer takes two seconds, in which the person signs out.
      uptime.withLock { $0 += .seconds(2) }
      store.advance(by: .seconds(2))
      self.signOut(1, "ride-1", store)
      return .accepted
    }
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    let engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: try EngineTests.configuration(),
        log: Log { _, _, _ in }, time: time), settings: settings)
    await EngineTests.run(engine, store) { state in
      state.entries.contains { $0.status == .suppressed }
    }
    #expect(transport.taken.count == 1)
    #expect(store.state.withLock { $0.rereads.map(\.count) } == [1])
  }

  @Test func `A5: what is sent within a second is not read again`() async throws {
    let store = CheckingStore()
    addRides(3, store)
    store.emit("ride-1")
    let transport = StrictTransport()
    await EngineTests.run(try EngineTests.engine(store, transport), store) { state in
      state.entries.count { $0.status == .accepted } == 4
    }
    #expect(store.state.withLock { $0.rereads.isEmpty })
    #expect(transport.taken.allSatisfy { $0.freshUntil != nil })
  }

  @Test func `A5: without an answer of the store nothing is sent`() async throws {
    let store = CheckingStore()
    addRides(1, store)
    let isFirst = Atomic(true)
    let transport = StrictTransport { _ in
      guard isFirst.exchange(false, ordering: .relaxed) else { return .accepted }
      store.fail(1)
      store.advance(by: .seconds(60))
      return .unsent(.outdated(left: .seconds(8)))
    }
    await EngineTests.run(try EngineTests.engine(store, transport), store) { state in
      state.entries.contains { $0.status == .accepted }
    }
    let first = store.state.withLock { $0.entries.first }
    #expect(first?.status == .pending)
    #expect(first?.reason?.text == "the phone could not be read again before the push was sent")
    #expect(transport.taken.count == 2)
    #expect(transport.taken.last?.sendWithin == nil, "decided again")
  }
}
