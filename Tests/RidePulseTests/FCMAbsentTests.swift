import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import TestSupport
import Testing

/// A service for iPhones alone pays nothing for Android.
@Suite("A service without a service account", .timeLimit(.minutes(60))) struct FCMAbsentTests {
  private func deliverOnce(_ stage: Stage) async throws {
    try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
    try await stage.settled()
  }

  @Test func `It starts no thread, opens no connection and logs nothing for FCM`() async throws {
    try await FCMStage.run { fcm in
      let stage = fcm.stage
      var environment = try fcm.environment(rules: AndroidDeliveryTests.rules)
      let account = environment.removeValue(forKey: "FCM_SERVICE_ACCOUNT_PATH")
      let server = try Server(environment)
      try await stage.addRide()
      try await deliverOnce(stage)
      #expect(try stage.arrivals().filter(\.isAccepted).count == 1)
      let threads = server.threadNames
      #expect(!threads.isEmpty && !threads.contains("fcm-token"), "\(threads)")
      #expect(server.stop() == 0)
      #expect(!server.log.contains("FCM"), "\(server.log)")
      #expect(try fcm.tokenCalls().isEmpty)
      // This question is the only one.
      #expect(try fcm.statistics().value(at: ["connections", "total"]) == .integer(1))

      environment["FCM_SERVICE_ACCOUNT_PATH"] = account
      let other = try Server(environment)
      try await deliverOnce(stage)
      #expect(other.threadNames.contains("fcm-token"), "\(other.threadNames)")
      // Nothing waits for the token: no Android phone is registered.
      try await wait(until: "it has an access token") { try fcm.tokenCalls().count == 1 }
      #expect(other.stop() == 0)
    }
  }
}
