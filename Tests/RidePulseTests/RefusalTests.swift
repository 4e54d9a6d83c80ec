import Foundation
import Testing

@Suite("Refusals by APNs") struct RefusalTests {
  private func refused(
    _ answer: String, times: Int = 1, _ body: (Stage, Server) async throws -> Void
  ) async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try stage.faults(#"[{"match": {}, "action": {"answer": \#(answer)}, "times": \#(times)}]"#)
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      try await body(stage, server)
    }
  }

  private static let phone = """
    select disabled_at is null, disabled_reason from ridepulse.devices where app = 'customer'
    """

  @Test func `A 410 newer than the registration disables the phone, and registering enables it`()
    async throws
  {
    let later = Int((Date().timeIntervalSince1970 + 3600) * 1000)
    try await refused(#"{"status": 410, "reason": "Unregistered", "timestamp": \#(later)}"#) {
      stage, _ in
      #expect(try await stage.rows(Self.phone) == [["f", "Unregistered"]])
      try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
      try await stage.settled()
      let reasons = try await stage.rows(
        "select status, reason from ridepulse.deliveries where app = 'customer' order by event")
      #expect(
        reasons == [["rejected", "Unregistered"], ["suppressed", "no phone of the customer"]])
      try await stage.sql(
        "select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)')")
      #expect(try await stage.rows(Self.phone) == [["t", nil]])
    }
  }

  @Test func `R14: a 410 older than the registration keeps the phone`() async throws {
    let earlier = Int((Date().timeIntervalSince1970 - 3600) * 1000)
    try await refused(#"{"status": 410, "reason": "Unregistered", "timestamp": \#(earlier)}"#) {
      stage, _ in
      let phone = try await stage.rows(Self.phone)
      #expect(phone == [["t", nil]])
    }
  }

  @Test func `BadDeviceToken is final for the push and does not change the phone`() async throws {
    try await refused(#"{"status": 400, "reason": "BadDeviceToken"}"#) { stage, _ in
      let rows = try await stage.rows(
        "select status, reason, attempts from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["rejected", "BadDeviceToken", "1"]])
      #expect(try await stage.rows(Self.phone) == [["t", nil]])
    }
  }

  @Test func `R4: after one 429 the push is sent again after retry-after, with its own apns-id`()
    async throws
  {
    try await refused(#"{"status": 429, "reason": "TooManyRequests", "retry_after": 1}"#) {
      stage, _ in
      let rows = try await stage.rows(
        "select status, reason, attempts from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["accepted", nil, "2"]])
      let arrivals = try stage.arrivals()
      #expect(arrivals.count == 2)
      #expect(Set(arrivals.map(\.id)).count == 1)
    }
  }

  @Test func `R10: a body that is not JSON does not hide the status`() async throws {
    try await refused(#"{"status": 413, "body": "<html>"}"#) { stage, _ in
      let rows = try await stage.rows(
        "select status, reason from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["rejected", "HTTP 413"]])
    }
  }

  @Test func `R22: a push past its validity is expired and not sent`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.emit('driver_nearby', 'r1');
        update ridepulse.events set created_at = created_at - interval '3 minutes'
        """)
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.settled()
      let status = "select status from ridepulse.deliveries where app = 'customer'"
      #expect(try await stage.value(status) == "expired")
      #expect(try stage.arrivals().isEmpty)
    }
  }
}

@Suite("A storm of refusals") struct StormTests {
  private static let rides = 3000

  /// Emits an event for each ride, each of which has a customer and a driver with a phone each.
  private func notifyAll(_ stage: Stage) async throws {
    try await stage.sql(
      """
      insert into ridepulse.devices (app, owner_id, token)
      select app, app || n, md5(app || n) || md5('x' || n)
      from generate_series(1, \(Self.rides)) n, unnest(array['customer', 'driver']) app;
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
      select 'r' || n, 'requested', 'customer' || n, 'driver' || n, '{"pickup_address": "A 1"}'
      from generate_series(1, \(Self.rides)) n;
      delete from ridepulse.events;
      select ridepulse.emit('waiting_fee_started', 'r' || n) from generate_series(1, \(Self.rides)) n
      """)
  }

  private func verdicts(_ stage: Stage, of app: String) async throws -> [[String?]] {
    try await stage.rows(
      """
      select status, count(*) from ridepulse.deliveries where app = '\(app)' group by status
      """)
  }

  @Test(arguments: [("R13", "BadDeviceToken"), ("R15", "DeviceTokenNotForTopic")])
  func `R13, R15: a storm pauses one app, is logged once, disables no phone, and ends by itself`(
    requirement: String, reason: String
  ) async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try stage.faults(
        """
        [{"match": {"topic": "com.example.driver"},
          "action": {"answer": {"status": 400, "reason": "\(reason)"}}}]
        """)
      try await notifyAll(stage)
      try await server.waitForLog("Lane paused")
      try await stage.until(
        """
        select count(*) from ridepulse.deliveries where app = 'customer' and status = 'accepted'
        """, is: "\(Self.rides)")
      #expect(try await stage.value("select count(disabled_at) from ridepulse.devices") == "0")
      #expect(
        try await stage.value("select count(quarantined_at) from ridepulse.devices") == "0")
      // Some pushes were in flight when the breaker opened; the others were not sent.
      let asked = try stage.arrivals().filter { $0.header("apns-topic") == "com.example.driver" }
      #expect(asked.count < Self.rides)

      try stage.faults("[]")
      try await stage.settled(within: .seconds(240))
      try await server.waitForLog("Lane resumed")
      let rejected = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'rejected'")
      let driverVerdicts = try await verdicts(stage, of: "driver")
      #expect(
        driverVerdicts.contains(["accepted", "\(Self.rides - (rejected.flatMap { Int($0) } ?? 0))"]
        ),
        "\(driverVerdicts)")
      #expect(try await verdicts(stage, of: "customer") == [["accepted", "\(Self.rides)"]])
    }
  }
}
