import Foundation
import Testing
import TestSupport

@Suite("Tokens of another topic") struct WrongTopicTests {
  private static let count = """
    select count(*), count(quarantined_at) from ridepulse.devices where app = 'customer'
    """

  /// Emits an event of a ride, and waits for its verdict.
  private func notify(_ stage: Stage, _ ride: String = "r1") async throws {
    try await stage.sql("select ridepulse.emit('driver_nearby', '\(ride)')")
    try await stage.settled()
  }

  @Test func `R100 a phone whose token is of another app is in quarantine after three refusals`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try stage.tokens(
        #"{"tokens": [{"token": "\#(Stage.customerToken)", "topic": "com.example.driver"}]}"#)
      for _ in 1...5 { try await notify(stage) }
      let verdicts = try await stage.rows(
        """
        select status, reason_code, count(*) from ridepulse.ledger where app = 'customer'
        group by 1, 2 order by 1
        """)
      #expect(
        verdicts == [
          ["rejected", "DeviceTokenNotForTopic", "3"], ["suppressed", "phone_quarantined", "2"],
        ])
      #expect(try stage.arrivals().count { $0.token == Stage.customerToken } == 3)
      #expect(try await stage.rows(Self.count) == [["1", "1"]])
      try await stage.sql(
        "select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)')")
      #expect(try await stage.rows(Self.count) == [["1", "0"]])
    }
  }

  @Test func `R100 a wrong bundle ID puts no phone of a small fleet in quarantine`() async throws {
    try await Stage.run { stage in
      let rides = 4
      let server = try Server(
        stage.environment.merging(["APNS_CUSTOMER_BUNDLE_ID": "com.example.driver"]) { $1 })
      defer { server.stop() }
      let tokens = (1...rides).map { String(repeating: "a\($0)", count: 32) }
      let entries = tokens.map { #"{"token": "\#($0)", "topic": "com.example.customer"}"# }
      try stage.tokens(#"{"tokens": [\#(entries.joined(separator: ","))]}"#)
      for (index, token) in tokens.enumerated() {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c\(index)', '\(token)');
          insert into ridepulse.rides (id, state, customer_id)
          values ('r\(index)', 'requested', 'c\(index)')
          """)
      }
      // Fewer refusals than open the circuit breaker.
      for _ in 1...4 {
        for index in tokens.indices { try await notify(stage, "r\(index)") }
      }
      let refused = try await stage.value(
        """
        select count(*) from ridepulse.ledger
        where app = 'customer' and reason_code = 'DeviceTokenNotForTopic'
        """)
      #expect(refused == "16")
      #expect(try await stage.rows(Self.count) == [["4", "0"]])
    }
  }
}

@Suite("Configuration mistakes in the log") struct ConfigurationLogTests {
  private static let message = "Pushes not sent: check the configuration"

  private func lines(_ server: Server) -> [String] {
    server.log.split(separator: "\n").map(String.init).filter { $0.contains(Self.message) }
  }

  @Test func `R116 a wrong topic and a missing bundle ID are logged once, with what to do`()
    async throws
  {
    try await Stage.run { stage in
      var environment = stage.environment
      environment["APNS_DRIVER_BUNDLE_ID"] = nil
      environment["APNS_CUSTOMER_BUNDLE_ID"] = "com.example.unknown"
      // Once serve has run, registrations of an app without a bundle ID are refused.
      try await stage.addRide()
      let server = try Server(environment)
      defer { server.stop() }
      for event in ["driver_assigned", "driver_nearby", "waiting_fee_started"] {
        try await stage.sql("select ridepulse.emit('\(event)', 'r1')")
        try await stage.settled()
      }
      try await server.waitForLog("reason=TopicDisallowed")
      try await server.waitForLog("reason=no_bundle_id")
      let customer = lines(server).filter { $0.contains("app=customer") }
      #expect(customer.count == 1, "\(customer)")
      #expect(customer.first?.contains("environment=production") == true)
      #expect(customer.first?.contains("correct APNS_CUSTOMER_BUNDLE_ID") == true)
      let driver = lines(server).filter { $0.contains("app=driver") }
      #expect(driver.count == 1, "\(driver)")
      #expect(driver.first?.contains("set APNS_DRIVER_BUNDLE_ID") == true)
      let explained = try Command.ridepulse(["explain", "r1"], environment).output
      #expect(explained.contains("      fix: correct APNS_CUSTOMER_BUNDLE_ID"), "\(explained)")
      #expect(explained.contains("      fix: set APNS_DRIVER_BUNDLE_ID"), "\(explained)")
    }
  }

  @Test func `R116 a revoked key is logged once, and again after a reload of keys`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      let revoked = #"{"SIMKEY0001": {"revoked": true}}"#
      try Data(revoked.utf8).write(
        to: URL(fileURLWithPath: stage.directory + "/keys.json"), options: .atomic)
      try await stage.addRide()
      // The simulator reads the file once it has noticed the change.
      try await wait(until: "the key is refused: \(server.log)", every: .milliseconds(200)) {
        try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
        return server.log.contains("reason=InvalidProviderToken")
      }
      #expect(lines(server).allSatisfy { $0.contains("APNS_KEY_ID") })
      let before = lines(server).count
      server.hangUp()
      try await server.waitForLog("APNs keys reloaded")
      try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
      try await server.waitForLog(Self.message, times: before + 1)
    }
  }

  @Test func `R116 a certificate that APNs refuses in the TLS handshake is logged once`()
    async throws
  {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    for name in ["ca", "stranger"] {
      let made = try Tool.run(
        "/usr/bin/openssl",
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "60", "-subj", "/CN=\(name)",
          "-keyout", "\(name).key", "-out", "\(name).crt",
        ], in: folder)
      try #require(made.status == 0, "\(made.errors)")
    }
    try await Stage.run(simulator: ["--client-ca", "\(folder)/ca.crt"]) { stage in
      let server = try Server(
        stage.environment.merging([
          "APNS_CUSTOMER_CERTIFICATE_PATH": "\(folder)/stranger.crt",
          "APNS_CUSTOMER_CERTIFICATE_KEY_PATH": "\(folder)/stranger.key",
        ]) { $1 })
      defer { server.stop() }
      try await stage.addRide()
      for event in ["driver_nearby", "waiting_fee_started"] {
        try await stage.sql("select ridepulse.emit('\(event)', 'r1')")
      }
      try await stage.until(
        """
        select max(attempts) > 1 from ridepulse.ledger
        where app = 'customer' and reason_code = 'BadCertificate'
        """, is: "t")
      try await server.waitForLog("reason=BadCertificate")
      let mistakes = lines(server)
      #expect(mistakes.count == 1, "\(mistakes)")
      #expect(mistakes.first?.contains("compare APNS_CUSTOMER_CERTIFICATE_PATH") == true)
    }
  }
}
