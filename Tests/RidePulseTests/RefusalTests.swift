import Foundation
import Testing

@Suite struct `APNs refuses` {
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

  @Test func `a 410 newer than the registration disables the phone, and registering enables it`()
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
        reasons == [["rejected", "Unregistered"], ["suppressed", "no phone of customer c1"]])
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

  @Test func `BadDeviceToken is final for the push and leaves the phone alone`() async throws {
    try await refused(#"{"status": 400, "reason": "BadDeviceToken"}"#) { stage, _ in
      let rows = try await stage.rows(
        "select status, reason, attempts from ridepulse.deliveries where app = 'customer'")
      #expect(rows == [["rejected", "BadDeviceToken", "1"]])
      #expect(try await stage.rows(Self.phone) == [["t", nil]])
    }
  }

  @Test func `R4: 429 once: the same push goes again after retry-after, with its own apns-id`()
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

  @Test func `R22: what is no longer true is expired, and not sent`() async throws {
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
