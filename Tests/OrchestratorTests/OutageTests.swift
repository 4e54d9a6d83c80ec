import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

@Suite("An outage of one service, with rides that have phones of both", .timeLimit(.minutes(10)))
struct OutageTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var network: PushNetwork
    var kind: OutageModel.Kind
    var other: PushNetwork { network == .android ? .production : .android }
    var testDescription: String { "\(network.service) \(kind)" }
  }

  private static let cases = [PushNetwork.android, .production].flatMap { network in
    OutageModel.Kind.allCases.map { Case(network: network, kind: $0) }
  }

  private static let outage: Range<Duration> = .seconds(20) ..< .seconds(80)

  @Test(arguments: cases)
  func `no phone of the other service receives an event late, and nothing is lost`(
    example: Case
  ) async throws {
    var model = try OutageModel(
      example.kind, of: example.network, during: Self.outage, rides: 50)
    try await model.run(until: .seconds(160), eventsUntil: .seconds(90))
    #expect(model.faults.isEmpty, "\(model.faults)")
    try expectNoDelay(model, example)
    expectNoLoss(model, example)
  }

  private func expectNoDelay(_ model: OutageModel, _ example: Case) throws {
    let sent = try #require(model.sentAt[example.other])
    #expect(sent.count == model.events.count)
    let delays = model.events.map { event, at in
      (at: at, delay: (sent[event] ?? .seconds(1000)) - at)
    }
    let late = delays.filter { $0.at < Self.outage.upperBound && $0.delay > .seconds(2.5) }
    #expect(late.isEmpty)
    // Afterwards a ride is held while all that waited leaves, one push after another.
    let latest = try #require(delays.map(\.delay).max())
    #expect(latest <= EngineSettings().followWithin)
    // Once the breaker is open, only the ride of a probe is held.
    let opened = try #require(
      model.changes.first { $0.lane.network == example.network && $0.at > Self.outage.lowerBound })
    #expect(opened.at - Self.outage.lowerBound <= .seconds(2.5))
    let after = delays.filter { $0.at > opened.at + .seconds(2) && $0.at < Self.outage.upperBound }
    let held = after.filter { $0.delay > .milliseconds(200) }
    #expect(held.count <= 12, "of \(after.count)")
    #expect(model.changes.allSatisfy { $0.lane.network == example.network })
  }

  private func expectNoLoss(_ model: OutageModel, _ example: Case) {
    let entries = model.store.state.withLock { $0.entries }
    for network in [example.network, example.other] {
      let phones = entries.filter {
        $0.status == .accepted && ($0.phone ?? 0) % 2 == (network == .android ? 0 : 1)
      }
      #expect(phones.count == model.events.count, "each event once to \(network)")
      for (phone, rows) in Dictionary(grouping: phones, by: \.phone) {
        let ids = rows.map(\.event.id)
        #expect(ids == ids.sorted(), "phone \(phone ?? 0)")
      }
    }
    // What the ledger does not show: a repetition carries the same ID.
    let ids = (model.accepted[example.network] ?? [:]).values.flatMap(\.self)
    #expect(Set(ids).count == model.events.count)
    #expect(model.store.state.withLock { $0.holders.isEmpty && $0.memos.isEmpty })
    let last = model.changes.last { $0.lane.network == example.network }
    #expect(last?.change == .resumed)
  }

  @Test(arguments: [0.1, 1.9, 3, 9] as [Double])
  func `without an outage a service pauses once at most, however slow it is`(
    latency: Double
  ) async throws {
    var model = try OutageModel(.silent, of: .android, during: .seconds(0) ..< .zero, rides: 10)
    model.latency = .seconds(latency)
    try await model.run(until: .seconds(240), eventsUntil: .seconds(30))
    let pauses = model.changes.filter { $0.change != .resumed }
    #expect(pauses.count <= (latency > 4 ? 2 : 0), "\(pauses)")
    let entries = model.store.state.withLock { $0.entries }
    #expect(entries.count { $0.status == .accepted } == model.events.count * 2)
    if latency < 4 {
      #expect((model.accepted[.android] ?? [:]).values.joined().count == model.events.count)
    }
  }

  @Test func `an engine sends to iPhones while FCM is silent, and to Android phones afterwards`()
    async throws
  {
    let clock = FastClock()
    let store = CheckingStore()
    let isSilent = Mutex(false)
    let transport = StrictTransport { request in
      request.network == .android && isSilent.withLock { $0 } ? nil : .accepted
    }
    transport.reach(.connected, in: .android)
    let log = LogLines()
    var settings = EngineSettings.patient
    settings.pollInterval = .milliseconds(500)
    var parts = EngineDependencies(
      store: store, transport: transport, configuration: try EngineTests.configuration(),
      log: log.log,
      time: DatabaseClock(
        wall: { OutageModel.start + clock.now.offset }, uptime: { clock.now.offset }))
    parts.clock = clock
    store.state.withLock { $0.clock = { OutageModel.start + clock.now.offset } }
    store.add(
      (0..<10).map { index in
        var view = WithdrawnPushTests.view(RideID("ride-\(index)"), [.ios, .android])
        view.events = []
        return view
      }, at: OutageModel.start)
    let engine = Engine(parts, settings: settings)
    async let running: Void = engine.run()
    func emit() {
      for ride in 0..<10 { store.emit(RideID("ride-\(ride)")) }
      engine.wake()
    }
    func isSent(_ events: Range<Int64>, to parity: Int64) -> @Sendable (CheckingStore.State) -> Bool
    {
      { state in
        let rows = state.entries.filter { $0.status == .accepted && ($0.phone ?? 0) % 2 == parity }
        return Set(rows.map(\.event.id)).isSuperset(of: events)
      }
    }
    emit()
    await store.wait(until: isSent(1..<11, to: 0))
    isSilent.withLock { $0 = true }
    // This transport keeps pushes without an answer for any time, so that a ride that waits for one
    // is never settled.
    for events in [11..<21, 21..<31] as [Range<Int64>] {
      emit()
      await store.wait(until: isSent(events, to: 1))
    }
    #expect(log.count(of: "Lane paused: FCM is connected and answers no push") >= 1)
    isSilent.withLock { $0 = false }
    transport.release()
    await store.wait(until: isSent(1..<31, to: 0))
    engine.stop()
    await running
    #expect(log.count(of: "Lane resumed") >= 1)
    #expect(!transport.faults.contains("ticket used twice"), "\(transport.faults)")
  }
}
