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
      policy.observe(NetworkReach(found), at: uptime)
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
    _ = policy.observe(NetworkReach([.production: .connected]), at: .seconds(10))
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
    _ = policy.observe(NetworkReach(found), at: .zero)
    #expect(policy.reach == reach)
  }

  @Test(
    arguments: [
      ([:], [.production], nil), ([.android: .connected], [.production], nil),
      ([.android: .unreachable], [.production], .lost),
      ([.sandbox: .connected], [.production], .reached),
      ([.production: .connected], [.android], nil),
      ([.sandbox: .unreachable], [.production], nil),
    ] as [([PushNetwork: Reachability], Set<PushNetwork>, NodeReach?)])
  func `a service on trial is neither reached nor lost`(
    found: [PushNetwork: Reachability], onTrial: Set<PushNetwork>, reach: NodeReach?
  ) {
    #expect(NetworkReach(found, onTrial: onTrial).ofNode == reach)
  }

  @Test(
    arguments: [
      ([.production: .unreachable], [.production: .unreachable], .noConnection(isOfFCM: false)),
      ([.production: .connected], [.production: .unreachable], .noAnswer(isOfFCM: false)),
      ([.android: .connected], [.android: .unreachable], .noAnswer(isOfFCM: true)),
      (
        [.production: .connected, .android: .unreachable],
        [.production: .connected, .android: .unreachable], .noConnection(isOfFCM: true)
      ),
      (
        [.production: .unreachable, .android: .connected],
        [.production: .unreachable, .android: .unreachable], .noConnection(isOfFCM: false)
      ),
    ] as [([PushNetwork: Reachability], [PushNetwork: Reachability], AsideCause)])
  func `the log names what this node lacks`(
    found: [PushNetwork: Reachability], judged: [PushNetwork: Reachability], cause: AsideCause
  ) {
    #expect(AsideCause(found, NetworkReach(judged)) == cause)
  }

  @Test(
    arguments: [
      (.connected, true, .reached), (.connected, false, nil), (.unreachable, false, .lost),
    ] as [(Reachability, Bool, NodeReach?)])
  func `no node relies on one that claims nothing`(
    found: Reachability, isClaiming: Bool, reach: NodeReach?
  ) {
    var policy = ReachPolicy()
    _ = policy.observe(NetworkReach([.production: found]), at: .zero)
    policy.reported(NodePeers(), at: .zero)
    let isDue = policy.observe(
      NetworkReach([.production: found]), isClaiming: isClaiming, at: .milliseconds(100))
    #expect(policy.reach == reach)
    #expect(isDue == (found == .connected && !isClaiming), "a change is reported at once")
  }

  @Test func `U16: one environment that can be reached is enough`() {
    var policy = ReachPolicy()
    func connects(_ found: [PushNetwork: Reachability], own: Set<PushNetwork>) -> Set<
      PushNetwork
    > {
      policy.connects(found, paused: [], own: own, at: .zero)
    }
    _ = policy.observe(NetworkReach([.production: .connected, .sandbox: .unreachable]), at: .zero)
    policy.reported(Self.reached, at: .zero)
    #expect(policy.reach == .reached && !policy.isAside)
    #expect(
      connects([.production: .connected, .sandbox: .unreachable], own: [.production])
        == [.sandbox])
  }

  @Test func `U15: while APNs can't be reached, a connection is tried every two seconds`() {
    var policy = ReachPolicy()
    func tries(
      _ uptime: Duration, _ found: [PushNetwork: Reachability] = Self.lost
    ) -> Int {
      policy.connects(found, paused: [.production], own: [.production], at: uptime).count
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
    func connects(_ found: [PushNetwork: Reachability], own: Set<PushNetwork>) -> Set<
      PushNetwork
    > {
      policy.connects(found, paused: [], own: own, at: .zero)
    }
    _ = policy.observe(NetworkReach([:]), at: .zero)
    policy.reported(NodePeers(), at: .zero)
    #expect(connects([:], own: [.sandbox]) == [])
    policy.reported(NodePeers(isAnyLost: true), at: .zero)
    #expect(connects([:], own: [.sandbox]) == [.sandbox])
  }

  /// What a node knows when another one has lost its reach, and where it connects to.
  struct Peer: CustomTestStringConvertible, Sendable {
    var found: [PushNetwork: Reachability]
    var own: Set<PushNetwork>
    var wanted: Set<PushNetwork>

    var testDescription: String { "\(found.keys) of \(own)" }
  }

  @Test(arguments: [
    Peer(found: [:], own: [.production], wanted: [.production]),
    Peer(found: [:], own: [.android], wanted: [.android]),
    Peer(found: [:], own: [.sandbox, .android], wanted: [.sandbox, .android]),
    // What the other node lost may be FCM, of which nothing is known here.
    Peer(found: [.production: .connected], own: [.production, .android], wanted: [.android]),
    Peer(found: [.android: .connected], own: [.production, .android], wanted: [.production]),
    Peer(found: [.android: .connected], own: [.android], wanted: []),
    Peer(found: [.android: .unreachable], own: [.android], wanted: [.android]),
    Peer(found: [.sandbox: .connected], own: [.production], wanted: []),
    Peer(found: [:], own: [], wanted: []),
  ])
  func `a node connects to each service of its own that another node may have lost`(
    peer: Peer
  ) {
    func connects(isAnyLost: Bool) -> Set<PushNetwork> {
      var policy = ReachPolicy()
      _ = policy.observe(NetworkReach(peer.found), at: .zero)
      policy.reported(NodePeers(isAnyLost: isAnyLost), at: .zero)
      return policy.connects(peer.found, paused: [], own: peer.own, at: .zero)
    }
    #expect(connects(isAnyLost: true) == peer.wanted)
    // Without a loss elsewhere, only what has failed is tried again.
    let failed = peer.found.filter { $0.value == .unreachable }.keys
    #expect(connects(isAnyLost: false) == Set(failed))
  }

  @Test func `a node with FCM alone hands over to one that reaches it`() {
    var (lost, idle) = (ReachPolicy(), ReachPolicy())
    let unreachable: [PushNetwork: Reachability] = [.android: .unreachable]
    _ = lost.observe(NetworkReach(unreachable), at: .zero)
    lost.reported(NodePeers(), at: .zero)
    #expect(lost.reach == .lost && !lost.isAside, "nobody else reaches it")
    _ = idle.observe(NetworkReach([:]), at: .zero)
    idle.reported(NodePeers(isAnyLost: true), at: .zero)
    #expect(idle.connects([:], paused: [], own: [.android], at: .zero) == [.android])
    _ = idle.observe(NetworkReach([.android: .connected]), at: .seconds(1))
    #expect(idle.reach == .reached)
    lost.reported(Self.reached, at: .seconds(2))
    #expect(lost.isAside)
    _ = lost.observe(NetworkReach([.android: .connected]), at: .seconds(3))
    #expect(!lost.isAside)
  }

  @Test func `a node connects for the services that it is configured for`() throws {
    var configuration = try EngineTests.configuration()
    configuration.bundleIDs = [.driver: "com.example.driver"]
    configuration.androidApps = []
    #expect(configuration.networks == [.production])
    configuration.androidApps = [.customer]
    #expect(configuration.networks == [.production, .android])
    configuration.bundleIDs = [:]
    #expect(configuration.networks == [.android])
    configuration.androidApps = []
    #expect(configuration.networks.isEmpty)
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
