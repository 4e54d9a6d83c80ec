import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Synchronization
import Testing
import TestSupport

@Suite("Postgres restarts") struct RestartTests {
  /// Inserts rides, each with one event for one phone, through every failure of Postgres.
  private final class Producer: Sendable {
    private let count = Atomic(0)
    private let isStopping = Atomic(false)

    var rides: Int { count.load(ordering: .relaxed) }

    func stop() { isStopping.store(true, ordering: .relaxed) }

    func run(_ session: PostgresSession) async throws {
      while !isStopping.load(ordering: .relaxed) {
        let first = rides + 1
        // The outcome of a statement without a response is unknown, so it is repeated with the same
        // effect.
        let insert = """
          insert into ridepulse.rides (id, state, customer_id)
          select 'r' || n, 'driver_en_route', 'c' || n % 50 from generate_series(\(first), \(first + 4)) n
          on conflict do nothing
          """
        while (try? await session.script(insert)) == nil {
          try await Task.sleep(for: .milliseconds(20))  // poll: until Postgres is there
        }
        count.store(first + 4, ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(50))  // poll: a steady load
      }
    }
  }

  /// Measures the time until a future event has its verdict.
  private func timeToResume(_ stage: Stage, _ producer: Producer) async throws -> Duration {
    let start = ContinuousClock.now
    let verdict =
      "select count(*) from ridepulse.deliveries where ride_id = 'r\(producer.rides + 10)'"
    try await wait(until: "a later event has its verdict", every: .milliseconds(10)) {
      (try? await stage.value(verdict)) == "1"
    }
    return start.duration(to: .now)
  }

  private func restart(
    _ turn: Int, _ cluster: LocalCluster, _ proxy: Proxy, _ stage: Stage, _ producer: Producer
  ) async throws -> Duration {
    if turn == 10 {
      // The response to a COMMIT is lost, and the server is restarted shortly afterwards.
      proxy.loseAnswer(to: "claim_")
      try await wait(until: "a response is lost", every: .milliseconds(5)) {
        proxy.hasLostAnswer
      }
    }
    var numbers = SeededGenerator(seed: TestSeed.value(UInt64(turn)))
    let moment = Int.random(in: 0...200, using: &numbers)
    try await Task.sleep(for: .milliseconds(moment))  // poll: the restart is to come at random
    try await cluster.restart(turn % 4 == 0 ? .fast : .immediate)
    return try await timeToResume(stage, producer)
  }

  @Test func `R43: twenty restarts and lost COMMIT responses under load lose nothing`()
    async throws
  {
    let cluster = try await LocalCluster(durability: .real)
    try await Stage.run(cluster: cluster) { stage in
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
        from generate_series(0, 49) n
        """)
      let proxy = try Proxy(to: cluster.directory)
      defer { proxy.stop() }
      let name = stage.conninfo.split(separator: "=").last ?? ""
      let url = "host=127.0.0.1 port=\(proxy.port) user=postgres dbname=\(name)"
      let server = try Server(stage.environment.merging(["DATABASE_URL": url]) { $1 })
      let producer = Producer()
      let session = stage.session
      async let production: Void = producer.run(session)
      var times: [Duration] = []
      for turn in 1...20 { times.append(try await restart(turn, cluster, proxy, stage, producer)) }
      // Also one COMMIT without a response and without a restart that would reveal it.
      proxy.loseAnswer(to: "settle_")
      try await wait(until: "a response is lost", every: .milliseconds(5)) {
        proxy.hasLostAnswer
      }
      let stalled = try await timeToResume(stage, producer)
      producer.stop()
      try await production
      try await stage.settled(within: .seconds(240))
      print(
        "R43: \(producer.rides) events, 20 restarts; verdicts again within",
        times.max() ?? .zero, "at most; after a stalled COMMIT within \(stalled)")
      try await check(stage, rides: producer.rides)
      #expect(server.isRunning && server.stop() == 0, "\(server.log.suffix(3000))")
    }
    await cluster.stop()
  }

  /// Expects a verdict and a push for each event, and repeated pushes only for `uncertain` ones.
  private func check(_ stage: Stage, rides: Int) async throws {
    let verdicts = try await stage.rows(
      "select ride_id, status from ridepulse.deliveries where push_type = 'alert'")
    #expect(verdicts.count == rides)
    #expect(verdicts.allSatisfy { $0[1] == "accepted" || $0[1] == "uncertain" })
    let uncertain = Set(verdicts.filter { $0[1] == "uncertain" }.compactMap { $0[0] })
    let arrivals = try stage.arrivals().filter { $0.isAccepted }
    let received = Dictionary(grouping: arrivals, by: { $0.ride ?? "" })
    #expect(received.count == rides)
    let twice = received.filter { $0.value.count > 1 && !uncertain.contains($0.key) }
    #expect(twice.isEmpty, "\(twice.keys.sorted())")
  }
}
