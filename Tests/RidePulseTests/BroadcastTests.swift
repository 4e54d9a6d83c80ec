import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of a ride's channel from its first state to its last, with real processes.
@Suite(.timeLimit(.minutes(60))) struct BroadcastTests {
  private static func rules(_ storage: String) -> String {
    """
    states: { active: [waiting, moving], final: [arrived] }
    rules:
      - name: shuttle
        app: customer
        live-activity:
          broadcast: true
          channel-storage: \(storage)
          attributes-type: ShuttleAttributes
          content-state: { status: "{{ride.state}}", place: "{{ride.attributes.place | default: 0}}" }
          stale-after: 2m
          min-interval: 1s
          urgent: [moving]
        expires: 1m

    """
  }

  @Test func `R59: an app with a hyphen that SIGHUP adds to the rules has channels at once`()
    async throws
  {
    try await Stage.run(simulator: ["--topic", "com.example.courier"]) { stage in
      var environment = try stage.environment(rules: Self.rules("latest"))
      environment["APNS_FOOD_COURIER_BUNDLE_ID"] = "com.example.courier"
      let server = try Server(environment)
      try await server.waitForLog("Serving")
      _ = try stage.environment(
        rules: Self.rules("latest").replacing("app: customer", with: "app: food-courier"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      try await stage.sql("insert into ridepulse.rides (id, state) values ('s1', 'waiting')")
      try await stage.until(
        "select (attributes ->> 'food-courier_channel_id' is not null)::text from ridepulse.rides",
        is: "true")
      #expect(server.stop() == 0)
    }
  }

  private static let expiry = "select (extract(epoch from now()) + 8 * 3600)::bigint"

  @Test(arguments: ["latest", "none"])
  func `R33, R75: a ride's channel gets each change, and goes once its last message has expired`(
    storage: String
  ) async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules(storage))
      var server = try Server(environment)
      try await stage.sql("insert into ridepulse.rides (id, state) values ('s1', 'waiting')")
      try await stage.until(
        "select (attributes ->> 'customer_channel_id' is not null)::text from ridepulse.rides",
        is: "true")
      let id = try #require(
        await stage.value("select attributes ->> 'customer_channel_id' from ridepulse.rides"))
      #expect(try stage.atApple() == [id])
      try await stage.untilBroadcast(of: "waiting")
      for place in 1...20 {
        try await stage.sql(
          "update ridepulse.rides set attributes = '{\"place\": \(place)}' where id = 's1'")
      }
      #expect(
        try await stage.value("select attributes ->> 'customer_channel_id' from ridepulse.rides")
          == id, "the attributes were written without it")
      try await stage.sql("update ridepulse.rides set state = 'moving'")
      try await stage.untilBroadcast(of: "moving")
      try await stage.sql("update ridepulse.rides set state = 'arrived'")
      if storage == "latest" {
        try await stage.until("select ended_reason from ridepulse.channels", is: "ended")
        #expect(server.stop() == 0)
        #expect(try stage.atApple() == [id], "a phone that is off may still receive the end")
        try await stage.sql(
          "update ridepulse.channels set ended_at = ended_at - interval '8 hours'")
        server = try Server(environment)
      }
      try await stage.until(
        "select (deleted_at is not null)::text from ridepulse.channels", is: "true")
      let limit = Int64(try await stage.value(Self.expiry) ?? "") ?? 0
      #expect(server.stop() == 0)

      let broadcasts = try stage.broadcasts()
      #expect(broadcasts.allSatisfy { $0.header("apns-channel-id") == id })
      #expect(broadcasts.allSatisfy { $0.text("status") == "200" })
      let stamps = broadcasts.compactMap(\.timestamp)
      #expect(stamps.count == broadcasts.count && stamps.count >= 3)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      #expect(broadcasts.last?.aps("event") == "end")
      #expect(broadcasts.last?.aps("content-state", "status") == "arrived")
      #expect(broadcasts.dropLast().allSatisfy { $0.aps("event") == "update" })
      let expirations = broadcasts.compactMap { Int64($0.header("apns-expiration") ?? "") }
      #expect(expirations.allSatisfy { storage == "none" ? $0 == 0 : $0 > 0 && $0 <= limit })
      #expect(try stage.atApple().isEmpty, "and the channel is deleted")
      #expect(try stage.arrivals().isEmpty, "a broadcast needs no push to one phone")
      let calls = try stage.channelRecords().compactMap { $0.text("call") }
      #expect(calls.filter { $0 == "create" }.count == 1 && calls.count { $0 == "delete" } == 1)
    }
  }

  @Test func `R33: killed nodes leave one channel and rising timestamps`()
    async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules("latest"))
      var servers = [try Server(environment), try Server(environment)]
      try await stage.sql("insert into ridepulse.rides (id, state) values ('s1', 'waiting')")
      // A ride that ends before it has a channel has no recipients.
      try await stage.until(
        "select count(*) from ridepulse.channels where channel_id is not null", is: "1")
      for place in 1...40 {
        try await stage.sql(
          "update ridepulse.rides set attributes = '{\"place\": \(place)}' where id = 's1'")
        if place % 10 == 5 {
          servers.removeFirst().kill9()
          servers.append(try Server(environment))
        }
      }
      try await stage.sql("update ridepulse.rides set state = 'arrived'")
      try await stage.until(
        "select (count(*) = 0)::text from ridepulse.agenda", is: "true", within: .seconds(240))
      try await stage.until(
        """
        select count(*) from ridepulse.channels
        where channel_id is not null and ended_at is null
        """, is: "0", within: .seconds(240))
      for server in servers { #expect(server.stop() == 0) }
      let open = Dictionary(grouping: try stage.broadcasts().filter { $0.text("status") == "200" })
      {
        $0.header("apns-channel-id") ?? ""
      }
      #expect(open.values.contains { $0.last?.aps("event") == "end" })
      for broadcasts in open.values {
        let ids = broadcasts.compactMap { $0.header("apns-request-id") }
        #expect(ids.count == broadcasts.count)
        // Each of the four kills may repeat the one broadcast that may have arrived, with its own
        // ID and a new timestamp.
        #expect(ids.count - Set(ids).count <= 4, "\(ids)")
        let stamps = broadcasts.compactMap(\.timestamp)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "\(stamps)")
        let ends = broadcasts.firstIndex { $0.aps("event") == "end" } ?? broadcasts.endIndex
        #expect(broadcasts[ends...].allSatisfy { $0.aps("event") == "end" })
      }
    }
  }

  @Test func `An app that may not broadcast is reported, and its other pushes continue`()
    async throws
  {
    try await Stage.run { stage in
      try stage.faults(
        #"[{"match":{"call":"create"},"action":{"answer":{"status":400,"reason":"BroadcastFeatureNotEnabled"}}}]"#
      )
      let rules =
        Self.rules("latest") + """
            - name: moving
              app: customer
              on: moving
              alert: { title: It moves }
              expires: 1h

          """
      let server = try Server(try stage.environment(rules: rules))
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        insert into ridepulse.rides (id, state, customer_id) values ('s1', 'waiting', 'c1')
        """)
      try await stage.until(
        "select reason from ridepulse.deliveries where rule = 'shuttle'",
        is: "no channel: BroadcastFeatureNotEnabled: the app may not broadcast; enable the "
          + "Broadcast Capability of its App ID in Apple's developer portal")
      try await stage.sql("update ridepulse.rides set state = 'moving'")
      try await stage.until(
        "select status from ridepulse.deliveries where rule = 'moving'", is: "accepted")
      #expect(server.stop() == 0)
    }
  }

  @Test func `With --once the channel is created, and used by the next run`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules("none"))
      try await stage.sql("insert into ridepulse.rides (id, state) values ('s1', 'waiting')")
      for _ in 0..<2 {
        #expect(try Command.ridepulse(["serve", "--once"], environment).status == 0)
      }
      #expect(try stage.broadcasts().map { $0.aps("event") } == ["update"])
      try await stage.sql("update ridepulse.rides set state = 'arrived'")
      #expect(try Command.ridepulse(["serve", "--once"], environment).status == 0)
      #expect(try stage.broadcasts().last?.aps("event") == "end")
      #expect(try stage.atApple().isEmpty)
    }
  }
}

extension Stage {
  /// Returns the broadcasts that the simulator answered, in order.
  func broadcasts() throws -> [Arrival] {
    guard
      let text = try? String(contentsOfFile: directory + "/broadcasts.jsonl", encoding: .utf8)
    else { return [] }
    return text.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }.map(Arrival.init)
  }

  /// Waits until the simulator has received a broadcast of a state.
  fileprivate func untilBroadcast(of state: String) async throws {
    try await wait(until: "\(state) is broadcast") {
      try broadcasts().contains { $0.aps("content-state", "status") == state }
    }
  }
}
