import Foundation
import RideCore
import TestSupport
import Testing

/// What a phone that was off receives when it returns: APNs stores one push for it.
@Suite("A phone that is off", .timeLimit(.minutes(60))) struct OfflinePhoneTests {
  private static let rules = """
    events: [read_again]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        data: { event: "{{event.name}}" }
        expires: 5m
      - name: heartbeat
        app: customer
        on: read_again
        background: {}
        data: { event: "{{event.name}}" }

    """

  @Test func `U5: a heartbeat does not replace the arrival that is stored for it`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      try await stage.addRide()
      try stage.device(Stage.customerToken, "offline")
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived'")
      try await stage.settled()
      try await stage.sql("select ridepulse.emit('read_again', 'r1')")
      try await stage.settled()
      let headers = try stage.arrivals().map { $0.header("apns-expiration") == "0" }
      #expect(headers == [false, true])
      let answer = try stage.device(Stage.customerToken, "online")
      #expect(answer.contains(#""outcome":"delivered""#), "\(answer)")
      let arrival = try #require(try stage.arrivals().first)
      #expect(arrival.event == "driver_arrived" && answer.contains(arrival.id), "\(answer)")
      #expect(server.stop() == 0)
    }
  }
}
