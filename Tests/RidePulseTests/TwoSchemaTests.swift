import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Tests of `RIDEPULSE_SCHEMA`: two services in one database.
@Suite("Two schemas", .timeLimit(.minutes(60))) struct TwoSchemaTests {
  private func environment(_ stage: Stage, _ schema: String) throws -> [String: String] {
    let environment = stage.environment.merging(["RIDEPULSE_SCHEMA": schema]) { $1 }
    for words in [["migrate"], ["migrate", "--roles"]] {
      let done = try Command.ridepulse(words, environment)
      #expect(done.status == 0, "\(done.errors)")
      if words.count > 1 { #expect(done.output.contains("\(schema)_engine")) }
    }
    return environment
  }

  private func settled(_ stage: Stage, _ schema: String) async throws {
    try await stage.until(
      """
      select (select count(*) from \(schema).events)
        + (select count(*) from \(schema).ledger where status = 'pending')
      """, is: "0")
  }

  @Test func `R110: two schemas in one database do not meet`() async throws {
    try await Stage.run { stage in
      let cities = ["berlin", "wien"]
      let environments = try cities.map { try environment(stage, $0) }
      try await stage.sql("create table bookings (id text, status text, rider text)")
      for (city, token) in zip(cities, [Stage.customerToken, Stage.driverToken]) {
        try await stage.sql(
          """
          select \(city).watch('bookings',
            '{"id": "id", "state": "status", "customer_id": "rider"}');
          select \(city).register_device('customer', 'c1', '\(token)')
          """)
      }
      let servers = try environments.map { try Server($0) }
      // One row of the app's table is a ride of both, in one transaction.
      try await stage.sql("insert into bookings values ('r1', 'driver_arrived', 'c1')")
      for city in cities { try await settled(stage, city) }
      // A ride with the same ID is a ride of one.
      try await stage.sql(
        """
        insert into wien.rides (id, state, customer_id) values ('r2', 'driver_arrived', 'c1')
        """)
      try await settled(stage, "wien")
      for (city, rides) in [("berlin", "r1"), ("wien", "r1,r2")] {
        #expect(
          try await stage.value(
            "select string_agg(ride_id, ',' order by ride_id) from \(city).deliveries "
              + "where status = 'accepted'") == rides)
      }
      let tokens = try stage.arrivals().map { $0.text("token") ?? "" }
      #expect(tokens.count { $0 == Stage.customerToken } == 1)
      #expect(tokens.count { $0 == Stage.driverToken } == 2)
      #expect(try await stage.value("select count(*) from ridepulse.rides") == "0")
      #expect(servers.map { $0.stop() } == [0, 0])
      try Checkup(environments[0]).expect("schema", "ok", "current")
      let gone = try Command.ridepulse(["explain", "r2"], environments[0])
      #expect(gone.status == 1)
      let names = try await stage.value(
        """
        select string_agg(tgname, ',' order by tgname) from pg_trigger
        where tgrelid = 'bookings'::regclass and tgname like '%watch'
        """)
      #expect(names == "berlin_watch,wien_watch")
    }
  }

  @Test func `R110: texts name the schema in use, and leave values as they are`() async throws {
    try await Stage.run { stage in
      let berlin = try environment(stage, "berlin")
      try await stage.sql(
        """
        insert into berlin.agenda (ride_id, fence, leased_until, parked_reason, parked_at)
        values ('r1', 1, 'infinity', 'why', now())
        """)
      let explained = try Command.ridepulse(["explain", "r1"], berlin)
      #expect(
        explained.output.contains("the ride is gone from berlin.rides"),
        "\(explained.output)\(explained.errors)")
      let path = "/tmp/ridepulse.p8"
      let refused = try Command.ridepulse(
        ["serve"], berlin.merging(["APNS_PRIVATE_KEY_PATH": path]) { $1 })
      #expect(refused.status == 1)
      #expect(refused.errors.contains(path))
    }
  }

  @Test func `R110: a name that is no schema is refused with its variable`() async throws {
    try await Stage.run { stage in
      for word in ["migrate", "serve", "doctor"] {
        let refused = try Command.ridepulse(
          [word], stage.environment.merging(["RIDEPULSE_SCHEMA": "Berlin"]) { $1 })
        #expect(refused.status != 0)
        #expect((refused.errors + refused.output).contains("RIDEPULSE_SCHEMA is \"Berlin\""))
      }
    }
  }
}
