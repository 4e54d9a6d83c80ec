import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Tests what a service account's file of another project does, and files that are replaced.
@Suite("The Firebase project", .timeLimit(.minutes(60))) struct AndroidProjectTests {
  private static let projects = ["--project", "rides", "--project", "other"]
  private static let installations = (10..<35).map { "cX3abcDEFghiJKLmnoPQ\($0)" }
  private static let tokens = (35..<60).map {
    "dY4abcDEFghiJKLmnoPQ\($0):APA91bExampleOfARegistration\($0)"
  }
  private static var phones: [String] { installations + tokens }

  /// The tokens are of the project `rides`; of installations, a fault decides.
  private static var registrations: String {
    "{" + tokens.map { #""\#($0)": {"project": "rides"}"# }.joined(separator: ",") + "}"
  }

  /// Gives 50 people a phone and a ride, and makes all of them due.
  private func notify(_ stage: Stage, _ event: String = "driver_arrived") async throws {
    for (index, phone) in Self.phones.enumerated() {
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c\(index)', '\(phone)', platform => 'android');
        insert into ridepulse.rides (id, state, customer_id, attributes)
        values ('r\(index)', 'requested', 'c\(index)', '{"plate": "B-RP \(index)"}')
        on conflict do nothing
        """)
    }
    // As if they had been registered yesterday: young ones are never disabled.
    try await stage.sql(
      "update ridepulse.devices set registered_at = registered_at - interval '1 day'")
    try await stage.sql("select ridepulse.emit('\(event)', id) from ridepulse.rides")
  }

  private static let lost = """
    select count(*) from ridepulse.devices
    where disabled_at is not null or quarantined_at is not null
    """

  @Test
  func `A file of another project disables none of 50 phones, and the right one reaches them`()
    async throws
  {
    try await FCMStage.run(fcm: Self.projects, registrations: Self.registrations) { fcm in
      let stage = fcm.stage
      var environment = try fcm.environmentOfAndroidOnly(rules: AndroidDeliveryTests.rules)
      let right = try #require(environment["FCM_SERVICE_ACCOUNT_PATH"])
      environment["FCM_SERVICE_ACCOUNT_PATH"] =
        fcm.simulator.directory + "/service-account-other.json"
      // What Google answers for an installation of another project is not documented: both.
      try fcm.faults(
        """
        [{"match": {"call": "send", "token_prefix": "cX3", "project": "other"},
          "action": {"answer": {"status": 404, "reason": "UNREGISTERED"}}}]
        """)
      let (server, client) = try await APIClient.serve(environment)
      try await notify(stage)
      try await wait(until: "the lane is paused") {
        try client.get("/metrics").text.contains(
          #"ridepulse_lane_paused{app="customer",environment="android",cause="refused"} 1"#)
      }
      // The pause is counted before what led to it is settled.
      let rejected = "from ridepulse.ledger where status = 'rejected'"
      try await stage.until("select count(*) > 0 \(rejected)", is: "t")
      let words = try await stage.rows("select distinct reason_code \(rejected) order by 1")
      let expected: Set<String?> = ["SENDER_ID_MISMATCH", "UNREGISTERED"]
      #expect(Set(words.map { $0.first ?? nil }).isSubset(of: expected))
      #expect(server.stop() == 0)
      #expect(try await stage.value(Self.lost) == "0")
      #expect(try fcm.messages().filter(\.isAccepted).isEmpty)

      // The pin holds the first project: the right one sends only once it is accepted.
      environment["FCM_SERVICE_ACCOUNT_PATH"] = right
      let held = try Command.ridepulse(["serve", "--once"], environment)
      #expect(held.status == 1)
      #expect(
        held.errors.contains("project other") && held.errors.contains("rides"), "\(held.errors)")
      try await stage.sql("select ridepulse.pin()")
      let (second, other) = try await APIClient.serve(environment)
      try await wait(until: "/readyz answers 200") { try other.get("/readyz").status == 200 }
      try await notify(stage)
      try await stage.settled()
      #expect(second.stop() == 0)
      let reached = Set(try fcm.messages().filter(\.isAccepted).compactMap(\.registration))
      #expect(reached == Set(Self.phones))
      #expect(try await stage.value(Self.lost) == "0")
    }
  }

  @Test func `SIGHUP keeps the file in use if the new one is broken or of another project`()
    async throws
  {
    try await FCMStage.run(fcm: Self.projects) { fcm in
      let stage = fcm.stage
      var environment = try fcm.environment(rules: AndroidDeliveryTests.rules)
      let folder = fcm.simulator.directory
      let file = URL(fileURLWithPath: folder + "/used.json")
      let right = try Data(contentsOf: URL(fileURLWithPath: folder + "/service-account.json"))
      let other = try Data(contentsOf: URL(fileURLWithPath: folder + "/service-account-other.json"))
      try right.write(to: file)
      environment["FCM_SERVICE_ACCOUNT_PATH"] = file.path
      let server = try Server(environment)
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.installation)', platform => 'android')
        """)
      for (turn, content) in [Data("abracadabra".utf8), other].enumerated() {
        try content.write(to: file)
        server.hangUp()
        try await server.waitForLog("FCM service accounts not reloaded", times: turn + 1)
        // Apple's keys are read all the same.
        try await server.waitForLog("APNs keys reloaded", times: turn + 1)
        try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
        try await stage.settled()
        #expect(try fcm.messages().count(where: \.isAccepted) == turn + 1)
      }
      #expect(server.log.contains("of the project other"), "\(server.log)")
      #expect(!server.log.contains("abracadabra"))
      try right.write(to: file)
      server.hangUp()
      try await server.waitForLog("FCM service accounts reloaded")
      #expect(server.stop() == 0)
    }
  }

  @Test func `SIGHUP takes a new app of the rules, whose Android phones have the general file`()
    async throws
  {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let (first, second) = (
        AndroidDeliveryTests.rules,
        AndroidDeliveryTests.rules.replacing("app: customer", with: "app: food-courier")
      )
      let server = try Server(try fcm.environmentOfAndroidOnly(rules: first))
      try await server.waitForLog("Serving")
      _ = try stage.environment(rules: second)
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      // Until then, the functions of the schema know no such app.
      try await stage.until(
        "select count(*) from ridepulse.apps where app = 'food-courier'", is: "1")
      try await stage.sql(
        """
        select ridepulse.register_device(
          'food-courier', 'f1', '\(FCMStage.installation)', platform => 'android');
        insert into ridepulse.rides (id, state, attributes)
        values ('r1', 'requested', '{"food-courier_id": "f1", "plate": "B-RP 1"}');
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      let messages = try fcm.messages()
      #expect(messages.map(\.registration) == [FCMStage.installation])
      #expect(messages.allSatisfy { $0.isAccepted })
      #expect(
        try await stage.value(
          "select project from ridepulse.pinned_apps where app = 'food-courier'") == "rides")
      #expect(server.stop() == 0)
    }
  }

  @Test func `A file that can't be used stops the start, named and without its content`()
    async throws
  {
    try await FCMStage.run { fcm in
      let path = fcm.simulator.directory + "/broken.json"
      try Data(#"{"type": "service_account", "project_id": "abracadabra"}"#.utf8)
        .write(to: URL(fileURLWithPath: path))
      let environment = try fcm.environment(rules: AndroidDeliveryTests.rules)
        .merging(["FCM_CUSTOMER_SERVICE_ACCOUNT_PATH": path]) { $1 }
      let result = try Command.ridepulse(["serve"], environment)
      #expect(result.status == 1)
      #expect(
        result.errors.contains("FCM_CUSTOMER_SERVICE_ACCOUNT_PATH")
          && result.errors.contains(path), "\(result.errors)")
    }
  }
}
