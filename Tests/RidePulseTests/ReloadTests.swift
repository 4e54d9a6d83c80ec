import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing

@Suite("R59: SIGHUP") struct ReloadTests {
  private static func rules(_ title: String) -> String {
    """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: "\(title)" }
        data: { ride_id: "{{ride.id}}" }
        expires: 1h

    """
  }

  private func arrive(_ stage: Stage) async throws -> String? {
    try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
    try await stage.settled()
    return try stage.arrivals().last?.text("payload", "aps", "alert", "title")
  }

  @Test func `R59: new rule files take effect, invalid ones do not`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules("One")))
      try await stage.addRide(state: "driver_en_route")
      #expect(try await arrive(stage) == "One")
      _ = try stage.environment(rules: Self.rules("Two"))
      server.hangUp()
      try await server.waitForLog("Rule files reloaded")
      #expect(try await arrive(stage) == "Two")
      _ = try stage.environment(rules: Self.rules("Three").replacing("title", with: "titel"))
      server.hangUp()
      try await server.waitForLog("Rule files not reloaded")
      try await server.waitForLog("titel")
      #expect(try await arrive(stage) == "Two")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R59: schedule rules take effect at once`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules("One")))
      try await stage.addRide(state: "requested")
      try await stage.settled()
      _ = try stage.environment(
        rules: """
          rules:
            - name: beat
              app: driver
              every: 1s
              while: [requested]
              background: {}
              expires: 1h

          """)
      server.hangUp()
      try await stage.until(
        "select count(*) > 1 from ridepulse.deliveries where rule = 'beat'", is: "t")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R59: a wrong secret of posts is refused, and no part of it is logged`() async throws {
    try await Stage.run { stage in
      let file = URL(fileURLWithPath: stage.directory + "/secret")
      try Data((PostVariablesTests.secret + "\n").utf8).write(to: file)
      var environment = try stage.environment(rules: Self.rules("One"))
      environment["RIDEPULSE_POST_SMS_URL"] = "http://127.0.0.1:1/"
      environment["RIDEPULSE_POST_SMS_SECRET_FILE"] = file.path
      let server = try Server(environment)
      server.hangUp()
      try await server.waitForLog("Receivers of posts reloaded")
      try Data("whsec_abracadabra".utf8).write(to: file)
      server.hangUp()
      try await server.waitForLog("Receivers of posts not reloaded")
      try await server.waitForLog("RIDEPULSE_POST_SMS_SECRET_FILE")
      #expect(server.stop() == 0)
      for text in ["abracadabra", PostVariablesTests.secret] {
        #expect(!server.log.contains(text))
      }
    }
  }

  @Test func `R59, R99: an invalid key is refused, and an unchanged one keeps its connection`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules("Here")))
      try await stage.addRide(state: "driver_en_route")
      let path = try #require(stage.environment["APNS_PRIVATE_KEY_PATH"])
      let key = try Data(contentsOf: URL(fileURLWithPath: path))
      let session = stage.session
      // One push surely leaves before the first reload, and one after the last.
      try await session.script("select ridepulse.emit('driver_arrived', 'r1')")
      try await stage.settled()
      async let driving: Void = {
        for _ in 0..<200 {
          try await session.script("select ridepulse.emit('driver_arrived', 'r1')")
          try await Task.sleep(for: .milliseconds(5))  // poll: pushes all the while
        }
      }()
      for turn in 1...3 {
        try Data("no key".utf8).write(to: URL(fileURLWithPath: path))
        server.hangUp()
        try await server.waitForLog("APNs keys not reloaded", times: turn)
        try key.write(to: URL(fileURLWithPath: path))
        server.hangUp()
        try await server.waitForLog("state=unchanged", times: turn)
      }
      try await driving
      try await session.script("select ridepulse.emit('driver_arrived', 'r1')")
      try await stage.settled()
      let statuses = try await stage.rows(
        "select status, attempts, count(*) from ridepulse.deliveries group by 1, 2")
      #expect(statuses == [["accepted", "1", "202"]])
      let connections = Set(try stage.arrivals().compactMap { $0.text("connection") })
      #expect(connections.count == 1, "the key is the same")
      #expect(server.stop() == 0)
    }
  }
}
