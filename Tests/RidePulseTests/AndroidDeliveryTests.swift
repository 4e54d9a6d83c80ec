import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("A ride's change reaches Android phones", .timeLimit(.minutes(60)))
struct AndroidDeliveryTests {
  static let rules = """
    states:
      active: [requested, driver_arrived]
      final: [ride_completed]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here, body: "{{ride.attributes.plate}}", sound: default }
        collapse: "ride-{{ride.id}}"
        data: { ride_id: "{{ride.id}}" }
        expires: 5m

    """

  @Test func `A person's iPhone and Android phone receive an alert once each`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let server = try Server(try fcm.environment(rules: Self.rules))
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.installation)', platform => 'android');
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      #expect(try stage.arrivals().map(\.token) == [Stage.customerToken])
      let messages = try fcm.messages()
      #expect(messages.map(\.registration) == [FCMStage.installation])
      let message = try #require(messages.first)
      #expect(message.isAccepted, "\(message)")
      let shown = ["message", "android", "notification"]
      #expect(
        message.record.value(at: shown + ["title"]) == .string("Your driver is here"))
      #expect(message.record.value(at: shown + ["body"]) == .string("B-RP 1"))
      #expect(message.text("message", "android", "priority") == "HIGH")
      #expect(message.data("rp_kind") == "alert")
      #expect(message.data("ride_id") == "r1")
      let outcomes = try fcm.deliveries().compactMap { $0.value(at: ["outcome"]) }
      #expect(outcomes == [.string("delivered")])
      let rows = try await stage.rows(
        """
        select app, status, attempts, apns_id, token_suffix, platform
        from ridepulse.deliveries where app = 'customer' order by platform
        """)
      #expect(
        rows == [
          [
            "customer", "accepted", "1", message.data("rp_id"),
            String(FCMStage.installation.suffix(6)), "android",
          ],
          ["customer", "accepted", "1", try stage.arrivals().first?.id, "c1c1c1", "ios"],
        ])
      #expect(server.log.contains("FCM connected"), "\(server.log)")
      #expect(server.stop() == 0)
      #expect(!server.log.contains(FCMStage.installation))
    }
  }

  @Test func `A service without any variable of APNs starts, migrates and sends`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      var environment = try fcm.environmentOfAndroidOnly(rules: Self.rules)
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      #expect(!environment.keys.contains { $0.hasPrefix("APNS_") })
      let migrated = try Command.ridepulse(["migrate"], environment)
      #expect(migrated.status == 0, "\(migrated.errors)")
      let (server, client) = try await APIClient.serve(environment)
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.registration)', platform => 'android');
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r1', 'requested', 'c1', '{"plate": "B-RP 1"}');
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      #expect(try fcm.messages().map(\.registration) == [FCMStage.registration])
      #expect(try stage.arrivals().isEmpty)
      #expect(
        try await stage.rows("select status, token_suffix from ridepulse.deliveries")
          == [["accepted", String(FCMStage.registration.suffix(6))]])
      let metrics = try client.get("/metrics").text
      for line in [
        #"ridepulse_lane_paused{app="customer",environment="android",cause="refused"} 0"#,
        #"ridepulse_push_connections{environment="android",credential="rides/"#,
        #"ridepulse_access_token_age_seconds{credential="rides/"#,
      ] {
        #expect(metrics.contains("\n" + line), "no \(line) in\n\(metrics)")
      }
      #expect(Secrets.leak(in: metrics) == nil)
      // Nothing about APNs is missing.
      let doctor = try Command.ridepulse(["doctor"], environment)
      #expect(doctor.status == 0, "\(doctor.output)")
      #expect(!doctor.output.contains("bundle ID") && !doctor.output.contains("APNS_"))
      #expect(doctor.output.contains("FCM customer"))
      #expect(server.stop() == 0)
    }
  }

  @Test func `A phone that signed out, or that has no service account, has no push`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      var environment = try fcm.environment(rules: Self.rules)
      environment["FCM_SERVICE_ACCOUNT_PATH"] = nil
      let server = try Server(environment)
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.installation)', platform => 'android');
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r1', 'driver_arrived', 'c1', '{"plate": "B-RP 1"}')
        """)
      try await stage.settled()
      let rows = try await stage.rows("select status, reason from ridepulse.deliveries")
      #expect(
        rows == [
          [
            "suppressed",
            "no service account for customer: set FCM_CUSTOMER_SERVICE_ACCOUNT_PATH or "
              + "FCM_SERVICE_ACCOUNT_PATH",
          ]
        ])
      #expect(server.log.contains("Pushes not sent: check the configuration"), "\(server.log)")
      #expect(
        try await stage.value("select disabled_at is null from ridepulse.devices") == "t")
      let lower = FCMStage.installation.lowercased()
      #expect(
        try await stage.rows(
          """
          select ridepulse.unregister_device('customer', '\(lower)')::text,
            ridepulse.unregister_device('customer', '\(FCMStage.installation)')::text
          """) == [["false", "true"]])
      #expect(server.stop() == 0)
    }
  }

  @Test func `explain finds an Android phone by the end of its token, in its case`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let environment = try fcm.environment(rules: Self.rules)
      let server = try Server(environment)
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.registration)', platform => 'android');
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r1', 'driver_arrived', 'c1', '{"plate": "B-RP 1"}')
        """)
      try await stage.settled()
      #expect(server.stop() == 0)
      let end = String(FCMStage.registration.suffix(8))
      let found = try Command.ridepulse(["explain", "--token", end], environment)
      #expect(found.output.contains("…\(end.suffix(6)) (Android)"), "\(found.output)")
      #expect(found.output.contains("arrived (alert)"), "\(found.output)")
      let other = try Command.ridepulse(["explain", "--token", end.uppercased()], environment)
      #expect(other.status == 1, "\(other.output)")
    }
  }

  @Test func `A ride by the shipped rules has one card on the Android phone, from start to end`()
    async throws
  {
    try await FCMStage.run(fcm: ["--strict", "all"]) { fcm in
      let stage = fcm.stage
      let server = try Server(stage.environment.merging(fcm.simulator.environment) { $1 })
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.installation)', platform => 'android')
        """)
      for state in [
        "driver_assigned", "driver_en_route", "driver_arrived", "ride_started", "ride_completed",
      ] {
        try await stage.sql("update ridepulse.rides set state = '\(state)' where id = 'r1'")
        try await stage.settled()
      }
      try await wait(until: "the card has ended") {
        try fcm.messages().contains { $0.data("rp_event") == "end" }
      }
      #expect(server.stop() == 0)
      let messages = try fcm.messages()
      // The simulator also refuses a card's message that is out of order or after its end.
      let refused = messages.filter { !$0.isAccepted }
      #expect(refused.isEmpty, "\(refused)")
      let cards = messages.filter { $0.data("rp_kind") == "card" }
      #expect(cards.first?.data("rp_event") == "start")
      #expect(cards.filter { $0.data("rp_event") == "end" }.count == 1)
      #expect(cards.last?.data("rp_event") == "end")
      #expect(Set(cards.map { $0.data("rp_card") }).count == 1)
      let times = cards.compactMap { $0.data("rp_ts").flatMap { Int64($0) } }
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
      #expect(cards.allSatisfy { $0.data("rp_state") != nil })
      #expect(
        cards.allSatisfy { ($0.data("rp_attributes") == nil) == ($0.data("rp_event") == "end") })
      let ids = messages.compactMap { $0.data("rp_id") }
      #expect(Set(ids).count == messages.count, "each was sent once")
    }
  }
}
