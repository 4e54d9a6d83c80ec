import RideCore
import Synchronization
import Testing
import TestSupport

@testable import Orchestrator

@Suite struct ReachTests {
  private static let reached = NodePeers(isAnyReached: true)
  private static let lost: [PushNetwork: Reachability] = [.production: .unreachable]

  @Test func `U16: a node steps aside while it reaches nothing and another node reaches APNs`() {
    var policy = ReachPolicy()
    func reports(_ found: [PushNetwork: Reachability], _ uptime: Duration) -> Bool {
      policy.observe(found, at: uptime)
    }
    #expect(reports([:], .zero), "the first report")
    policy.reported(Self.reached, at: .zero)
    #expect(policy.reach == nil && !policy.isAside)
    #expect(reports(Self.lost, .seconds(1)), "a change is reported at once")
    policy.reported(Self.reached, at: .seconds(1))
    #expect(policy.isAside)
    #expect(!reports(Self.lost, .milliseconds(1100)))
    #expect(policy.isAside)
    // The other node is gone: this one goes on.
    #expect(reports(Self.lost, .seconds(3)))
    policy.reported(NodePeers(), at: .seconds(3))
    #expect(!policy.isAside)
    policy.reported(Self.reached, at: .seconds(5))
    // Without the database no other node is known.
    policy.reported(nil, at: .seconds(7))
    #expect(!policy.isAside)
    policy.reported(Self.reached, at: .seconds(9))
    #expect(policy.isAside)
    _ = policy.observe([.production: .connected], at: .seconds(10))
    #expect(!policy.isAside, "at once, before it is reported")
  }

  @Test(
    arguments: [
      ([.production: .connected, .android: .unreachable], NodeReach.lost),
      ([.sandbox: .unreachable, .android: .connected], .lost),
      ([.sandbox: .unreachable, .production: .connected, .android: .connected], .reached),
      ([.android: .connected], .reached),
    ] as [([PushNetwork: Reachability], NodeReach)])
  func `a connection to one service says nothing about the other`(
    found: [PushNetwork: Reachability], reach: NodeReach
  ) {
    var policy = ReachPolicy()
    _ = policy.observe(found, at: .zero)
    #expect(policy.reach == reach)
  }

  @Test func `U16: one environment that can be reached is enough`() {
    var policy = ReachPolicy()
    func connects(_ found: [PushNetwork: Reachability], own: PushNetwork) -> Set<
      PushNetwork
    > {
      policy.connects(found, paused: [], own: own, at: .zero)
    }
    _ = policy.observe([.production: .connected, .sandbox: .unreachable], at: .zero)
    policy.reported(Self.reached, at: .zero)
    #expect(policy.reach == .reached && !policy.isAside)
    #expect(
      connects([.production: .connected, .sandbox: .unreachable], own: .production)
        == [.sandbox])
  }

  @Test func `U15: while APNs can't be reached, a connection is tried every two seconds`() {
    var policy = ReachPolicy()
    func tries(
      _ uptime: Duration, _ found: [PushNetwork: Reachability] = Self.lost
    ) -> Int {
      policy.connects(found, paused: [.production], own: .production, at: uptime).count
    }
    #expect(tries(.seconds(1)) == 1)
    #expect(tries(.seconds(2)) == 0)
    #expect(tries(.seconds(3)) == 1)
    #expect(tries(.seconds(9), [.production: .connected]) == 0)
    // A lane waits for a connection that was closed.
    #expect(tries(.seconds(9), [:]) == 1)
  }

  @Test func `U16: a node without pushes connects if another one has lost its connection`() {
    var policy = ReachPolicy()
    func connects(_ found: [PushNetwork: Reachability], own: PushNetwork) -> Set<
      PushNetwork
    > {
      policy.connects(found, paused: [], own: own, at: .zero)
    }
    _ = policy.observe([:], at: .zero)
    policy.reported(NodePeers(), at: .zero)
    #expect(connects([:], own: .sandbox) == [])
    policy.reported(NodePeers(isAnyLost: true), at: .zero)
    #expect(connects([:], own: .sandbox) == [.sandbox])
  }

  @Test func `U16: an engine that stepped aside sends nothing, connects, and takes part again`()
    async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport()
    let log = LogLines()
    transport.reach(.unreachable)
    store.state.withLock { $0.peers = Self.reached }
    let engine = try EngineTests.engine(store, transport, log: log.log)
    async let running: Void = engine.run()
    await store.wait { $0.reaches.contains(.lost) }
    try await wait(until: "the engine is aside") { engine.statistics.isAside }
    store.emit("r")
    await store.wait { $0.reaches.count >= 3 }
    #expect(transport.taken.isEmpty)
    #expect(transport.connects > 0)
    transport.reach(.connected)
    engine.connectionsChanged()
    await store.wait { $0.settled.count == 1 }
    engine.stop()
    await running
    #expect(transport.taken.count == 1)
    #expect(
      log.count(of: "Claiming paused: APNs can't be reached, and another node reaches it") == 1)
    #expect(log.count(of: "Claiming resumed") == 1)
  }

  @Test func `U16: what waited for a connection is handed back when its node steps aside`()
    async throws
  {
    let store = CheckingStore()
    let transport = StrictTransport { _ in .unsent(.outdated(left: .seconds(1000))) }
    transport.reach(.unreachable)
    let engine = try EngineTests.engine(store, transport)
    async let running: Void = engine.run()
    store.emit("r")
    // No other node reaches APNs: the push is submitted again and again.
    await store.wait { $0.rereads.count >= 3 }
    #expect(store.state.withLock { $0.entries.isEmpty })
    store.state.withLock { $0.peers = Self.reached }
    await store.wait { $0.settled.count == 1 }
    engine.stop()
    await running
    let entry = store.state.withLock { $0.entries.last }
    #expect(entry?.status == .pending && entry?.attempts == 0)
    #expect(
      entry?.reason?.text == "left to another node: this one has no connection to APNs")
  }
}
