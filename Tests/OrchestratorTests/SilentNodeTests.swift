import Base
import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

/// A node whose connection to APNs is open and swallows everything, while another node has answers.
@Suite("A node that has no answers", .timeLimit(.minutes(10))) struct SilentNodeTests {
  private static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let lane = PushLane(network: .production, app: .customer)
  private static let connected: [PushNetwork: Reachability] = [.production: .connected]

  private static func at(_ seconds: Double) -> Timestamp { start + .seconds(seconds) }

  /// Returns lanes of which one had an answer at once, and then no answer to two pushes of 10 s.
  private static func silent() -> Lanes {
    var lanes = Lanes()
    _ = lanes.record(
      .accepted, of: lane, to: .card, at: start, times: (.seconds(9), .seconds(9.1)))
    let open = [LaneSilenceTests.push(10, in: lane), LaneSilenceTests.push(10, in: lane)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: at(12))
    return lanes
  }

  @Test func `its network counts as unreachable while its lane is paused, and is on trial then`() {
    var lanes = Self.silent()
    func reach(
      _ seconds: Double, _ found: [PushNetwork: Reachability] = Self.connected
    ) -> NetworkReach {
      lanes.reach(found, at: Self.at(seconds))
    }
    #expect(reach(13.9) == NetworkReach([.production: .unreachable]))
    #expect(reach(14) == NetworkReach([:], onTrial: [.production]))
    #expect(reach(14, [.production: .unreachable]).ofNode == .lost, "it has no connection either")
    #expect(reach(13, [:]).ofNode == .lost)
    // The next push is the probe: the others are for the other node.
    let probe = lanes.lanes[0].breaker.admit(at: Self.at(14))
    #expect(probe == .go && lanes.isProbingSilence)
    #expect(reach(14.1).ofNode == .lost)
    // One that was handed back leaves no outcome.
    #expect(reach(25).ofNode == nil)
    _ = lanes.record(
      .accepted, of: Self.lane, to: .card, at: Self.at(26), times: (.seconds(14), .seconds(26)))
    #expect(reach(26).ofNode == .reached && !lanes.isProbingSilence)
  }

  @Test(arguments: [(11, .lost), (13, .reached)] as [(Int64, NodeReach)])
  func `answers to another app since then show that the network works`(
    answeredAt: Int64, reach: NodeReach
  ) {
    var lanes = Self.silent()
    _ = lanes.record(
      .accepted, of: PushLane(network: .production, app: .driver), to: .card, at: Self.start,
      times: (.seconds(10), .seconds(answeredAt)))
    #expect(lanes.reach(Self.connected, at: Self.at(13)).ofNode == reach)
  }

  @Test func `answers of a post's receiver and of FCM show nothing about APNs`() {
    var lanes = Self.silent()
    let post = App(rawValue: PostAddress(receiver: "sms", rule: "r").lane)
    for lane in [
      PushLane(network: .production, app: post), PushLane(network: .android, app: .customer),
    ] {
      _ = lanes.record(
        .accepted, of: lane, to: .card, at: Self.start, times: (.seconds(12), .seconds(13)))
    }
    #expect(lanes.reach(Self.connected, at: Self.at(13)).ofNode == .lost)
  }

  @Test func `U16: it steps aside within seconds, hands over what it sent, and takes part again`()
    async throws
  {
    let clock = FastClock()
    let store = CheckingStore()
    let isSilent = Mutex(false)
    let transport = StrictTransport { _ in isSilent.withLock { $0 } ? nil : .accepted }
    transport.reach(.connected)
    let log = LogLines()
    var parts = EngineDependencies(
      store: store, transport: transport, configuration: try EngineTests.configuration(),
      log: log.log,
      time: DatabaseClock(
        wall: { Self.start + clock.now.offset }, uptime: { clock.now.offset }))
    parts.clock = clock
    store.state.withLock {
      $0.clock = { Self.start + clock.now.offset }
      $0.peers = NodePeers(isAnyReached: true)
    }
    let engine = Engine(parts, settings: .patient)
    async let running: Void = engine.run()
    store.emit("first")
    engine.wake()
    await store.wait { $0.settled.count == 1 }
    isSilent.withLock { $0 = true }
    for ride in ["a", "b", "c"] as [RideID] { store.emit(ride) }
    engine.wake()
    // This transport keeps pushes without an answer for any time: nothing else hands them over.
    await store.wait { state in
      state.reaches.last == .lost && state.holders.isEmpty
        && state.entries.count { $0.status == .pending } >= 3
    }
    let message = "Claiming paused: APNs answers nothing, and another node reaches it"
    try await wait(until: "the engine is aside") { log.count(of: message) >= 1 }
    isSilent.withLock { $0 = false }
    transport.release()
    await store.wait { state in
      Set(state.entries.filter { $0.status != .pending }.map(\.event.id)).count == 4
    }
    engine.stop()
    await running
    #expect(store.state.withLock { $0.reaches.contains(.reached) })
    // They expire after half a minute of this machine's time.
    let ends = Set(store.state.withLock { $0.entries.map(\.status) })
    #expect(ends.isSubset(of: [.pending, .accepted, .expired]) && ends.contains(.accepted))
    #expect(!transport.faults.contains("ticket used twice"), "\(transport.faults)")
  }
}
