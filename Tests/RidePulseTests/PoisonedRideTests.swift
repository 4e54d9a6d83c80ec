import Foundation
import TestSupport
import Testing

/// Rides whose decision ends the node: a debug build crashes or stalls as an attribute says.
@Suite("Rides that end their node") struct PoisonedRideTests {
  /// Ends leases at once, as the time between the ends of nodes does.
  private func endLeases(_ stage: Stage) async throws {
    try await stage.sql(
      """
      update ridepulse.agenda set leased_until = now()
      where leased_until between now() and now() + interval '1 hour'
      """)
  }

  @Test(arguments: ["crash", "stall"])
  func `A2: a ride that ends its node is parked, and the others are handled`(fault: String)
    async throws
  {
    try await Stage.run { stage in
      var environment = stage.environment
      environment["RIDEPULSE_TEST_DECISIONS"] = "1"
      for ride in ["poisoned", "r1", "r2"] { try await stage.addRide(ride) }
      try await stage.sql(
        """
        update ridepulse.rides set attributes = '{"ridepulse_test_decision": "\(fault)"}'
        where id = 'poisoned'
        """)
      for _ in 1...3 {
        let server = try Server(environment)
        try await wait(until: "the node ends by itself") { !server.isRunning }
        if fault == "stall" { #expect(server.log.contains("ride=poisoned")) }
        try await endLeases(stage)
      }
      let server = try Server(environment)
      defer { server.stop() }
      try await server.waitForLog("Ride parked: it ended its node")
      try await wait(until: "all other events are handled") {
        try await stage.value(
          "select count(*) from ridepulse.events where ride_id <> 'poisoned'") == "0"
      }
      let parked = try await stage.value("select string_agg(ride_id, ',') from ridepulse.parked")
      #expect(parked == "poisoned")
      // Repaired and unparked, it is a ride like any other.
      try await stage.sql(
        """
        update ridepulse.rides set attributes = '{}' where id = 'poisoned';
        select ridepulse.unpark('poisoned')
        """)
      try await wait(until: "its events are handled") {
        try await stage.value("select count(*) from ridepulse.events") == "0"
      }
      #expect(server.isRunning)
    }
  }
}
