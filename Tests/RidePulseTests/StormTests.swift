import Foundation
import Testing

@Suite struct `A storm of refusals` {
  private static let rides = 3000

  /// Emits an event for each ride, each of which has a customer and a driver with a phone each.
  private func tellAll(_ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device(app, app || n, md5(app || n) || md5('x' || n))
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
  func `R13, R15: it pauses one app, says so once, takes no phone away, and ends by itself`(
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
      try await tellAll(stage)
      try await server.says("App paused")
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
      try await server.says("App resumed")
      let rejected = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'rejected'")
      let told = try await verdicts(stage, of: "driver")
      #expect(
        told.contains(["accepted", "\(Self.rides - (rejected.flatMap { Int($0) } ?? 0))"]),
        "\(told)")
      #expect(try await verdicts(stage, of: "customer") == [["accepted", "\(Self.rides)"]])
    }
  }
}
