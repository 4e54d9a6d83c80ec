import Foundation
import RideCore
import Testing
import TestSupport

@Suite("A service that answers nothing", .timeLimit(.minutes(60))) struct SilentServiceTests {
  /// The deadline of a push is 10 s: without the limit of silent lanes the next alert is later.
  private static let limit = Duration.seconds(8)

  @Test func `An iPhone receives the next alert though FCM does not answer for the last one`()
    async throws
  {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      let server = try Server(try fcm.environment(rules: AndroidDeliveryTests.rules))
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(FCMStage.installation)', platform => 'android');
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      #expect(try fcm.messages().count == 1)
      try fcm.faults(#"[{"match": {"call": "send"}, "action": {"stall": true}}]"#)
      var delays: [Duration] = []
      for count in 2...4 {
        let began = ContinuousClock.now
        try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
        try await wait(until: "alert \(count) has arrived") { try stage.arrivals().count == count }
        delays.append(began.duration(to: .now))
      }
      // The machine may delay some of them.
      #expect(delays.contains { $0 < Self.limit }, "\(delays)")
      try fcm.faults("[]")
      try await stage.settled()
      #expect(try fcm.messages().last?.isAccepted == true)
      // The alert has a collapse ID, so that a later one may replace those that wait.
      #expect(
        try await stage.rows(
          """
          select platform, count(distinct apns_id) from ridepulse.deliveries
          where app = 'customer' and status in ('accepted', 'superseded', 'uncertain')
          group by 1 order by 1
          """) == [["android", "4"], ["ios", "4"]])
      #expect(server.stop() == 0)
    }
  }
}
