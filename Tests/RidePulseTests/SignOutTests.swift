import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests that a real service sends nothing to who has left.
@Suite("Sign-out of a phone") struct SignOutTests {
  private static let refusal = """
    [{"match": {}, "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}}]
    """

  /// Pushes that wait for a retry stay valid, however slow the machine is.
  private static let rules = CardTests.rules.replacing("expires: 1m", with: "expires: 1h")

  /// Waits until no node holds a ride: every later claim reads what is committed now.
  private func released(_ stage: Stage) async throws {
    try await stage.until(
      "select count(*) from ridepulse.agenda where leased_until > now()", is: "0")
  }

  private func accepted(_ stage: Stage) throws -> Int {
    try stage.arrivals().count { $0.isAccepted }
  }

  private func toCard(_ stage: Stage) throws -> Int {
    try stage.arrivals().count { $0.token == CardTests.token }
  }

  /// Adds three rides of c1 whose next pushes, of each kind, wait for a retry: the update of a card,
  /// a start, and an alert.
  private func addWaitingPushes(_ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)',
        installation_id => 'i1');
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
      select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(CardTests.token)', 'a1',
        installation_id => 'i1');
      select ridepulse.register_push_to_start('customer', 'c1', '\(CardTests.startToken)',
        'RideAttributes', installation_id => 'i1')
      """)
    try await stage.settled()
    try stage.faults(Self.refusal)
    try await stage.sql(
      """
      update ridepulse.rides set state = 'ride_started' where id = 'r1';
      insert into ridepulse.rides (id, state, customer_id) values
        ('r2', 'driver_assigned', 'c1'), ('r3', 'driver_arrived', 'c1')
      """)
    try await stage.until(
      """
      select string_agg(distinct push_type || coalesce(' ' || card_event, ''), ', ')
      from ridepulse.ledger where status = 'pending'
      """, is: "alert, liveactivity start, liveactivity update")
  }

  /// Two pushes to one phone: the second follows the answer to the first.
  private static let chain = """
    events: [first, second]
    rules:
      - { name: first, app: customer, on: first, alert: { title: First }, expires: 1h }
      - { name: second, app: customer, on: second, alert: { title: Second }, expires: 1h }

    """

  /// Commits both events, and a change of the phone's person while the first push is on its way.
  private func follow(
    _ stage: Stage, _ change: String, until outcome: (status: String, reason: String)
  ) async throws {
    try stage.faults(#"[{"match": {}, "times": 1, "action": {"delay_ms": 3500}}]"#)
    let (server, client) = try await APIClient.serve(try stage.environment(rules: Self.chain))
    defer { server.stop() }
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)',
        installation_id => 'i1');
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
      select ridepulse.emit('first', 'r1'), ridepulse.emit('second', 'r1')
      """)
    try await wait(until: "the first push is on its way") {
      try client.get("/metrics").text.split(separator: "\n").contains {
        $0.hasPrefix("ridepulse_pushes_in_flight{") && $0.hasSuffix("} 1")
      }
    }
    try await stage.sql(change)
    try await stage.settled()
    #expect(try accepted(stage) == 1)
    let rows = try await stage.rows(
      "select event, status, reason from ridepulse.deliveries where app = 'customer' order by 1")
    #expect(rows.contains(["first", "accepted", nil]), "\(rows)")
    #expect(rows.contains(["second", outcome.status, outcome.reason]), "\(rows)")
  }

  @Test func `A5: a push that follows a slow answer is not sent to who has signed out`()
    async throws
  {
    try await Stage.run { stage in
      try await follow(
        stage, "select ridepulse.unregister_device('customer', '\(Stage.customerToken)')",
        until: ("suppressed", "the phone is disabled"))
    }
  }

  @Test func `A5: a push that follows a slow answer is not sent to the phone's next person`()
    async throws
  {
    try await Stage.run { stage in
      try await follow(
        stage,
        """
        select ridepulse.register_device('customer', 'c2', '\(Stage.customerToken)',
          installation_id => 'i1')
        """, until: ("suppressed", "the phone belongs to another person now"))
    }
  }

  @Test func `R76: nothing leaves for a phone that was signed out, from retries either`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addWaitingPushes(stage)
      let before = try accepted(stage)
      try await stage.sql(
        "select ridepulse.unregister_device('customer', '\(Stage.customerToken)')")
      try await released(stage)
      try stage.faults("[]")
      try await stage.settled()
      try await stage.sql(
        """
        update ridepulse.rides set state = 'driver_assigned' where id = 'r1';
        update ridepulse.rides set state = 'driver_arrived' where id in ('r1', 'r2')
        """)
      try await stage.settled()
      #expect(try accepted(stage) == before)
      let outcomes = try await stage.rows(
        """
        select ride_id, coalesce(card_event, 'alert'), reason from ridepulse.ledger
        where status = 'suppressed' and attempts > 0 order by 1
        """)
      #expect(
        outcomes == [
          ["r1", "update", "the card is gone"],
          ["r2", "start", "the push-to-start token is disabled"],
          ["r3", "alert", "the phone is disabled"],
        ])
      // The phone's next person has what concerns that person.
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c2', '\(Stage.customerToken)',
          installation_id => 'i1');
        insert into ridepulse.rides (id, state, customer_id) values ('r4', 'driver_arrived', 'c2')
        """)
      try await stage.settled()
      #expect(try accepted(stage) == before + 1)
    }
  }

  @Test func `R76: retries do not reach the phone's next person`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addWaitingPushes(stage)
      let before = try accepted(stage)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c2', '\(Stage.customerToken)',
          installation_id => 'i1');
        select ridepulse.register_push_to_start('customer', 'c2', '\(CardTests.startToken)',
          'RideAttributes', installation_id => 'i1')
        """)
      try await released(stage)
      try stage.faults("[]")
      try await stage.settled()
      #expect(try accepted(stage) == before)
      let reasons = try await stage.rows(
        """
        select ride_id, reason from ridepulse.ledger
        where status = 'suppressed' and attempts > 0 order by 1
        """)
      #expect(
        reasons == [
          ["r1", "the card is gone"],
          ["r2", "the push-to-start token belongs to another person now"],
          ["r3", "the phone belongs to another person now"],
        ])
    }
  }

  @Test func `R77: an alert is no longer left to a card that its app reports as gone`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(CardTests.token)', 'a1')
        """)
      try await stage.settled()
      // Neither arrives: the card that is to show the alert, nor the alert that follows in its place.
      try stage.faults(Self.refusal)
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      let pending = """
        select string_agg(push_type, ' ' order by push_type)
        from ridepulse.ledger where status = 'pending'
        """
      try await stage.until(pending, is: "alert liveactivity")
      try await stage.sql("select ridepulse.end_live_activity('customer', 'a1')")
      try await stage.until(pending, is: "alert")
      let before = try toCard(stage)
      try stage.faults("[]")
      try await stage.settled()
      #expect(try toCard(stage) == before)
      let alerts = try stage.arrivals().filter { $0.header("apns-push-type") == "alert" }
        .filter(\.isAccepted)
      #expect(alerts.map(\.token) == [Stage.customerToken])
      let last = try #require(try stage.arrivals().last)
      #expect(last.token == Stage.customerToken)
    }
  }
}
