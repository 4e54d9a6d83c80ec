import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests of raw pushes to Android phones with a real service and the simulator.
@Suite("ridepulse push to an Android phone", .timeLimit(.minutes(60))) struct AndroidPushTests {
  private static let payload =
    #"{"android":{"notification":{"channel_id":"ride_now","title":"Hi"}},"data":{"k":"1"}}"#

  @Test func `SQL, HTTP and the command line send the same message, with a verdict`()
    async throws
  {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let (server, api) = try await APIClient.serve(
        try fcm.environment(rules: AndroidDeliveryTests.rules))
      defer { server.stop() }
      let token = FCMStage.registration
      let sql = try await stage.value(
        "select ridepulse.push('customer', '\(token)', '\(Self.payload)', expires => '5 min')")
      let http = try api.post(
        "/v1/push",
        #"{"app": "customer", "token": "\#(token)", "payload": \#(Self.payload), "expires": "5m"}"#)
      #expect(http.status == 201, "\(http)")
      let command = try stage.push(
        ["--expires", "5m", "--wait"], payload: Self.payload, token: token)
      #expect(command.status == 0, "\(command.errors)\(command.output)")
      let lines = command.output.split(separator: "\n")
      #expect(lines.last == "accepted: push to customer …\(token.suffix(6))", "\(lines)")
      try await stage.settled()
      let messages = try fcm.messages()
      #expect(messages.allSatisfy { $0.isAccepted }, "\(messages)")
      #expect(messages.map(\.registration) == [token, token, token])
      #expect(
        messages.map { $0.data("rp_id") }
          == [sql, http.string("apns_id"), lines.first.map(String.init)])
      #expect(messages.map { $0.data("k") } == ["1", "1", "1"])
      #expect(messages.allSatisfy { $0.text("message", "android", "priority") == "HIGH" })
      #expect(
        messages.allSatisfy {
          $0.text("message", "android", "notification", "tag") == $0.data("rp_id")
        })
      #expect(
        messages.allSatisfy { message in
          let ttl = message.text("message", "android", "ttl")?.dropLast()
          return ttl.flatMap { Int($0) }.map { (280...301).contains($0) } == true
        }, "\(messages)")
      #expect(
        try await stage.rows(
          "select distinct ride_id = ridepulse.raw_ride('push', 'customer', '\(token)'), push_type "
            + "from ridepulse.deliveries where status = 'accepted' "
            + "and token_suffix = '\(token.suffix(6))'") == [["t", "alert"]])
      #expect(try await stage.value("select count(*) from ridepulse.devices") == "0")
      let explained = try Command.ridepulse(
        ["explain", "--token", String(token.suffix(6))], stage.environment)
      #expect(explained.status == 0 && explained.output.contains("accepted"), "\(explained)")
      #expect(!server.log.contains(token))
    }
  }

  @Test func `a registered phone is disabled by the answer, and gets nothing from then on`()
    async throws
  {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let server = try Server(try fcm.environment(rules: AndroidDeliveryTests.rules))
      let phone = FCMStage.installation
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(phone)', platform => 'android');
        update ridepulse.devices set registered_at = now() - interval '2 hours'
        """)
      let good = try stage.push(["--wait"], payload: Self.payload, token: phone)
      #expect(good.status == 0, "\(good.errors)\(good.output)")
      #expect(
        try await stage.value("select distinct platform from ridepulse.deliveries") == "android")
      try fcm.phone(phone, "uninstalled")
      let gone = try stage.push(["--wait"], payload: Self.payload, token: phone)
      #expect(gone.status == 1 && gone.output.contains("rejected"), "\(gone)")
      try await stage.until(
        "select count(*) from ridepulse.devices where disabled_at is not null", is: "1")
      let late = try stage.push(["--wait"], payload: Self.payload, token: phone)
      #expect(late.output.contains("suppressed"), "\(late)")
      #expect(try fcm.messages().count == 2)
      #expect(server.stop() == 0)
    }
  }

  @Test func `a payload for the other service is refused at each entrance`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let (server, api) = try await APIClient.serve(
        try fcm.environment(rules: AndroidDeliveryTests.rules))
      defer { server.stop() }
      let phone = FCMStage.installation
      for (token, payload, text) in [
        (phone, Stage.rawPayload, "has aps, which is for iPhones"),
        (Stage.rawToken, Self.payload, "has android and no aps: it is for Android phones"),
      ] {
        let command = try stage.push([], payload: payload, token: token)
        #expect(command.status == 64 && command.errors.contains("--payload " + text), "\(command)")
        let http = try api.post(
          "/v1/push", #"{"app": "customer", "token": "\#(token)", "payload": \#(payload)}"#)
        #expect(http.status == 422 && http.field == "payload", "\(http)")
        // SQL leaves the content of the payload to the engine.
        try await stage.sql("select ridepulse.push('customer', '\(token)', '\(payload)')")
        try await stage.settled()
        let rows = try await stage.rows(Stage.rawOutcomes)
        #expect(rows.last?[2] == "rejected" && rows.last?[3]?.contains(text) == true, "\(rows)")
      }
      for (words, text) in [
        (["--type", "voip"], "--type is voip; an Android phone receives alert and background"),
        (["--expires", "29d"], "longer than FCM stores a push; expected 28d at most"),
      ] {
        let command = try stage.push(words, payload: Self.payload, token: phone)
        #expect(command.status == 64 && command.errors.contains(text), "\(command)")
      }
      for (fields, field) in [
        (#""environment": "sandbox""#, "environment"), (#""push_type": "voip""#, "push_type"),
        (#""expires": "29d""#, "expires"),
      ] {
        let answer = try api.post(
          "/v1/push",
          #"{"app": "customer", "token": "\#(phone)", "payload": \#(Self.payload), \#(fields)}"#)
        #expect(answer.status == 422 && answer.field == field, "\(answer)")
      }
      #expect(try fcm.messages().isEmpty)
      #expect(try stage.arrivals().isEmpty)
    }
  }

  /// The last arguments of a call with a phone's token, and parts of the message and the hint.
  private static let calls: [(String, String, String)] = [
    ("'[]'", "payload, got array", "object"),
    ("json_build_object('a', repeat('x', 15000))", "15010 bytes, at most 15000", "FCM"),
    ("'{}', 'voip'", "push_type of ridepulse.push is 'voip'", "alert or background"),
    ("'{}', 'background', 10", "priority", "5 or null"),
    ("'{}', expires => '29 days'", "expires", "28 days"),
    ("'{}', environment => 'sandbox'", "environment of ridepulse.push is 'sandbox'", "FCM"),
  ]

  @Test func `SQL refuses what an Android phone does not have`() async throws {
    try await Stage.run { stage in
      try await stage.sql("insert into ridepulse.apps (app) values ('customer')")
      for (arguments, message, hint) in Self.calls {
        do {
          _ = try await stage.rows(
            "select ridepulse.push('customer', '\(FCMStage.installation)', \(arguments))")
          Issue.record("accepted: \(arguments)")
        } catch let error as PostgresError {
          #expect(error.server?.sqlState == "22023", "\(arguments): \(error)")
          #expect(error.server?.message.contains(message) == true, "\(arguments): \(error)")
          #expect(error.server?.hint?.contains(hint) == true, "\(arguments): \(error)")
        }
      }
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  @Test func `the phone with the token decides, then the token's form`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        "select ridepulse.register_device('customer', 'c1', 'cafe', platform => 'android')")
      for (app, token, platform) in [
        ("customer", "cafe", "android"), ("customer", "CAFE", "ios"), ("driver", "cafe", "ios"),
        ("driver", FCMStage.installation, "android"),
        ("driver", FCMStage.registration, "android"), ("driver", "abc", "ios"),
        ("driver", String(repeating: "c", count: 22), "ios"),
      ] {
        #expect(
          try await stage.value("select ridepulse.push_platform('\(app)', '\(token)')") == platform,
          "\(app) \(token)")
      }
    }
  }
}
