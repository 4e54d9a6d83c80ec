import Base
import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("Crashes of nodes") struct CrashTests {
  private static let rides = 40

  private func addRides(_ stage: Stage) async throws {
    try await stage.sql(
      """
      insert into ridepulse.rides (id, state, customer_id)
      select 'ride-' || n, 'requested', 'customer-' || n from generate_series(1, \(Self.rides)) n;
      select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5('x' || n))
      from generate_series(1, \(Self.rides)) n
      """)
    try await stage.sql("delete from ridepulse.events")
  }

  /// Changes each ride once, which emits one event per ride.
  private func change(_ session: PostgresSession, to state: String) async throws {
    try await session.script("update ridepulse.rides set state = '\(state)'")
  }

  /// Starts a service whose push about a ride is sent, and stalled by the simulator. The fault
  /// applies only once, so that it does not affect the push of another node.
  private func serverWithStalledPush(_ stage: Stage) async throws -> Server {
    try await stage.addRide()
    try stage.faults(#"[{"match": {"first": 1}, "action": {"stall": true}, "times": 1}]"#)
    let server = try Server(stage.environment)
    try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
    try await wait(until: "the push arrives") { try !stage.arrivals().isEmpty }
    return server
  }

  /// Each state is announced, however late, so that the pushes of all of them can be counted.
  private static let eachState = """
    states:
      active: [requested, driver_assigned, driver_en_route, driver_arrived]
      final: [ride_completed]
    rules:
      - name: state
        app: customer
        on: [driver_assigned, driver_en_route, driver_arrived, ride_completed]
        alert: { title: "{{event.name}}" }
        data: { event: "{{event.name}}" }
        expires: 5m
        collapse: "ride-{{ride.id}}"
    """

  @Test func `kill -9 at any time: every event has a verdict, every phone received its push`()
    async throws
  {
    try await Stage.run { stage in
      try await addRides(stage)
      let environment = try stage.environment(rules: Self.eachState)
      // Answers take a while, so that the kill finds pushes at every stage.
      try stage.faults(#"[{"match": {"every": 3}, "action": {"delay_ms": 40}}]"#)
      let states = ["driver_assigned", "driver_en_route", "driver_arrived", "ride_completed"]
      var random = SeededGenerator(seed: TestSeed.value(5))
      for state in states {
        let server = try Server(environment)
        let session = stage.session
        async let changed: Void = change(session, to: state)
        let delay = Int.random(in: 0...60, using: &random)
        try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
        server.kill9()
        try await changed
      }
      let server = try Server(environment)
      defer { server.stop() }
      try await stage.settled()
      let verdicts = try await stage.rows(
        """
        select event, count(*) filter (where status in ('accepted', 'superseded', 'uncertain')), count(*)
        from ridepulse.deliveries where app = 'customer' and push_type = 'alert'
        group by event order by event
        """)
      #expect(verdicts == states.sorted().map { [$0, "\(Self.rides)", "\(Self.rides)"] })
      let received = Dictionary(
        grouping: try stage.arrivals(), by: { "\($0.token) \($0.event ?? "")" })
      // Events that two claims found were sent separately; the last state was sent in any case. What
      // a killed node sent without settling it is uncertain, as is what it did not send.
      let outcomes = try await stage.rows(
        """
        select status, apns_id from ridepulse.ledger
        where app = 'customer' and push_type = 'alert' and status in ('accepted', 'uncertain')
        """)
      let accepted = Set(outcomes.filter { $0[0] == "accepted" }.map { $0[1] })
      let sent = Set(received.values.joined().map { Optional($0.id) })
      #expect(sent.isSuperset(of: accepted) && sent.isSubset(of: outcomes.map { $0[1] }))
      #expect(received.keys.count { $0.hasSuffix(" ride_completed") } == Self.rides)
      // A repeat has the same push ID.
      #expect(received.values.allSatisfy { Set($0.map(\.id)).count == 1 })
    }
  }

  @Test func `Two nodes share the work, and no event is handled twice`() async throws {
    try await Stage.run { stage in
      try await addRides(stage)
      let nodes = [try Server(stage.environment), try Server(stage.environment)]
      for state in ["driver_assigned", "driver_en_route", "driver_arrived", "ride_completed"] {
        try await change(stage.session, to: state)
        // Otherwise a later push of one claim would replace an earlier one.
        try await stage.settled()
      }
      #expect(nodes.map { $0.stop() } == [0, 0])
      let ids = try stage.arrivals().map(\.id)
      #expect(Set(ids).count == Self.rides * 4)
      // Whatever a node sends before a stall that outlasts its lease is sent again, with its ID.
      let lostLeases = nodes.contains { $0.log.contains("Leases lost") }
      #expect(ids.count == Self.rides * 4 || lostLeases)
    }
  }

  @Test func `R39: a node that slept past its lease cannot write`() async throws {
    try await Stage.run { stage in
      let first = try await serverWithStalledPush(stage)
      first.pause()
      // The effect of 20 seconds.
      try await stage.sql("update ridepulse.agenda set leased_until = now()")
      let second = try Server(stage.environment)
      try await stage.settled()
      first.resume()
      #expect(first.stop() == 0)
      #expect(second.stop() == 0)
      #expect(first.log.contains("Leases lost"))
      let rows = try await stage.rows(
        "select status, attempts from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["accepted", "1"]])
    }
  }

  @Test func `R39: a push that a dead node may have sent and that is no longer valid is uncertain`()
    async throws
  {
    try await Stage.run { stage in
      let first = try await serverWithStalledPush(stage)
      first.kill9()
      // The effect of a few minutes.
      try await stage.sql(
        """
        update ridepulse.events set created_at = created_at - interval '3 minutes';
        update ridepulse.agenda set leased_until = now()
        """)
      let second = try Server(stage.environment)
      defer { second.stop() }
      try await stage.settled()
      let rows = try await stage.rows(
        "select status, reason from ridepulse.deliveries where app = 'customer'")
      #expect(rows.map(\.first) == ["uncertain"])
      #expect(rows.first?.last??.contains("the node that held the ride ended") == true)
      #expect(try stage.arrivals().count == 1)
    }
  }

  @Test func `R56: SIGTERM waits for answers, returns the rest and leaves nothing claimed`()
    async throws
  {
    try await Stage.run { stage in
      try await addRides(stage)
      try stage.faults(#"[{"match": {"every": 2}, "action": {"delay_ms": 1500}}]"#)
      let server = try Server(stage.environment)
      try await change(stage.session, to: "driver_arrived")
      // Every other push is answered at once: once two are, the one between them is in flight.
      try await wait(until: "two pushes are answered", every: .milliseconds(10)) {
        try stage.arrivals().count > 1
      }
      #expect(server.stop() == 0)
      let late = try stage.arrivals().filter { $0.isAccepted && $0.text("fault") == "delay" }
      #expect(!late.isEmpty, "it did not wait for the answers")
      #expect(
        try await stage.value("select count(*) from ridepulse.agenda where node is not null")
          == "0")
      // Pushes answered before the end are in the ledger, written by the node itself.
      let answered = try stage.arrivals().count(where: \.isAccepted)
      let noted = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'accepted'")
      #expect(noted == "\(answered)")
      let next = try Server(stage.environment)
      try await stage.settled()
      #expect(next.stop() == 0)
      let accepted = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'accepted'")
      #expect(accepted == "\(Self.rides)")
      #expect(Set(try stage.arrivals().map(\.token)).count == Self.rides)
    }
  }

  @Test
  func `R56: a second SIGTERM ends it at once, and its rides are free after the lease`()
    async throws
  {
    try await Stage.run { stage in
      let server = try await serverWithStalledPush(stage)
      server.terminate()
      try await server.waitForLog("Stopping")
      server.terminate()
      #expect(server.exitStatus() != 0)
      #expect(!server.log.contains("Stopped"))
      let next = try Server(stage.environment)
      defer { next.stop() }
      try await stage.settled()
      let rows = try await stage.rows(
        "select status from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["accepted"]])
      #expect(Set(try stage.arrivals().map(\.id)).count == 1)
    }
  }
}
