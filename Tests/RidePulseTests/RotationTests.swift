import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

/// A real `serve` whose keys are replaced, against a simulator that knows which key belongs where.
@Suite struct RotationTests {
  private static let rules = """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        expires: 1h
      - name: waiting
        app: driver
        on: driver_arrived
        alert: { title: The rider was told }
        expires: 1h
      - name: card
        app: driver
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          stale-after: 2m
        expires: 1h

    """

  /// Adds keys to the simulator, or changes them.
  private static func keys(_ json: String, _ stage: Stage) throws {
    let path = stage.directory + "/keys.json"
    try Data(json.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  /// Makes a link lead to a key of the simulator, in one step, as docs/configuration.md says.
  private static func link(_ name: String, to keyID: String, _ stage: Stage) async throws -> String
  {
    let file = "\(stage.directory)/AuthKey_\(keyID).p8"
    try await wait(until: "the simulator has made \(file)") {
      FileManager.default.fileExists(atPath: file)
    }
    let shell = #"ln -s "$1" "$2.new" && mv -T "$2.new" "$2""#
    let path = "\(stage.directory)/\(name)"
    let moved = try Command.run("/bin/sh", ["-c", shell, "sh", "AuthKey_\(keyID).p8", path])
    try #require(moved.status == 0, "\(moved.errors)")
    return path
  }

  private static let rides = 25
  private static let rounds = 60

  /// One for the customer and one for the driver of each ride, in all rounds and once more.
  private static let pushes = 2 * rides * (rounds + 1)

  /// Adds rides, each with a customer and a driver of its own.
  private static func addRides(_ stage: Stage) async throws {
    for ride in 0..<rides {
      let token = String(format: "%04x", ride)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c\(ride)', '\(String(repeating: "c", count: 60))\(token)');
        select ridepulse.register_device('driver', 'd\(ride)', '\(String(repeating: "d", count: 60))\(token)');
        insert into ridepulse.rides (id, state, customer_id, driver_id)
        values ('r\(ride)', 'driver_en_route', 'c\(ride)', 'd\(ride)')
        """)
    }
  }

  private static let team = #""SIMKEY0001": {}, "NEXTKEY002": {}"#
  private static let drivers = #"""
    "DRIVERKEY3": {"topics": ["com.example.driver"]}, "DRIVERKEY4": {"topics": ["com.example.driver"]}
    """#
  private static let revoked = #"""
    {"SIMKEY0001": {"revoked": true}, "NEXTKEY002": {},
     "DRIVERKEY3": {"topics": ["com.example.driver"], "revoked": true},
     "DRIVERKEY4": {"topics": ["com.example.driver"]}}
    """#

  @Test func `R99: all keys are replaced under load: no push is refused, late, lost or sent twice`()
    async throws
  {
    try await Stage.run(simulator: ["--latency", "15"]) { stage in
      try Self.keys("{\(Self.team), \(Self.drivers)}", stage)
      var environment = try stage.environment(rules: Self.rules)
      environment["APNS_KEY_ID"] = nil
      environment["APNS_PRIVATE_KEY_PATH"] = try await Self.link("all.p8", to: "SIMKEY0001", stage)
      environment["APNS_DRIVER_PRIVATE_KEY_PATH"] = try await Self.link(
        "driver.p8", to: "DRIVERKEY3", stage)
      let server = try Server(environment)
      try await Self.addRides(stage)
      let session = stage.session
      async let load: Void = {
        for _ in 0..<Self.rounds {
          try await session.script(
            "select ridepulse.emit('driver_arrived', id) from ridepulse.rides")
          try await Task.sleep(for: .milliseconds(50))  // poll: pushes all the while
        }
      }()
      try await stage.until("select count(*) > 300 from ridepulse.deliveries", is: "t")
      _ = try await Self.link("all.p8", to: "NEXTKEY002", stage)
      _ = try await Self.link("driver.p8", to: "DRIVERKEY4", stage)
      server.hangUp()
      try await server.waitForLog("state=replaced")
      try await server.waitForLog("its key or certificate was replaced", times: 2)
      // Until these claims end, pushes may be on their way with the old keys.
      let claims = "select ride_id, fence from ridepulse.agenda where node is not null"
      let old = Set(try await stage.rows(claims))
      try await wait(until: "no push is on its way with the old keys") {
        try await old.isDisjoint(with: stage.rows(claims))
      }
      try Self.keys(Self.revoked, stage)
      try await load
      try await stage.sql("select ridepulse.emit('driver_arrived', id) from ridepulse.rides")
      try await stage.settled()
      let statuses = try await stage.rows(
        "select status, attempts, count(*) from ridepulse.deliveries group by 1, 2")
      #expect(statuses == [["accepted", "1", String(Self.pushes)]])
      let arrivals = try stage.arrivals()
      #expect(arrivals.count == Self.pushes)
      #expect(Set(arrivals.map(\.id)).count == arrivals.count, "none twice")
      #expect(arrivals.allSatisfy { $0.isAccepted })
      let connections = Dictionary(grouping: arrivals) { $0.text("connection") ?? "" }
      #expect(connections.values.allSatisfy { Set($0.map { $0.text("jwt", "kid") }).count == 1 })
      let keys = Dictionary(grouping: arrivals) { $0.text("jwt", "kid") ?? "" }
      #expect(Set(keys.keys) == ["SIMKEY0001", "NEXTKEY002", "DRIVERKEY3", "DRIVERKEY4"])
      for (key, arrivals) in keys {
        let topics = Set(arrivals.compactMap { $0.header("apns-topic") })
        #expect(topics == [key.hasPrefix("DRIVER") ? "com.example.driver" : "com.example.customer"])
      }
      #expect(server.stop() == 0)
    }
  }

  @Test func `R99: keys that Apple binds to an environment sign for that environment`()
    async throws
  {
    try await Stage.run { stage in
      try Self.keys(
        #"""
        {"SIMKEY0001": {"environments": ["production"]}, "SANDBOX005": {"environments": ["sandbox"]}}
        """#, stage)
      let sandbox = try LocalSimulator(
        directory: stage.directory, options: ["--environment", "sandbox"])
      defer { sandbox.stop() }
      var environment = try stage.environment(rules: Self.rules)
      environment["APNS_SANDBOX_URL"] = sandbox.url
      environment["APNS_SANDBOX_PRIVATE_KEY_PATH"] = try await Self.link(
        "sandbox.p8", to: "SANDBOX005", stage)
      let server = try Server(environment)
      try await stage.addRide(state: "driver_en_route")
      try await stage.sql(
        """
        select ridepulse.register_device(
          'customer', 'c1', '\(String(repeating: "e", count: 64))', 'sandbox');
        select ridepulse.emit('driver_arrived', 'r1')
        """)
      try await stage.settled()
      let keys = try stage.arrivals().map {
        "\($0.text("environment") ?? "") \($0.text("jwt", "kid") ?? "") \($0.text("status") ?? "")"
      }
      #expect(
        keys.sorted() == [
          "production SIMKEY0001 200", "production SIMKEY0001 200", "sandbox SANDBOX005 200",
        ])
      #expect(server.stop() == 0)
    }
  }

  @Test func `R99: if one of several keys is bad, a reload changes none`() async throws {
    try await Stage.run { stage in
      try Self.keys("{\(Self.team), \(Self.drivers)}", stage)
      var environment = try stage.environment(rules: Self.rules)
      environment["APNS_KEY_ID"] = nil
      environment["APNS_PRIVATE_KEY_PATH"] = try await Self.link("all.p8", to: "SIMKEY0001", stage)
      let driver = try await Self.link("driver.p8", to: "DRIVERKEY3", stage)
      environment["APNS_DRIVER_PRIVATE_KEY_PATH"] = driver
      let server = try Server(environment)
      _ = try await Self.link("all.p8", to: "NEXTKEY002", stage)
      try FileManager.default.removeItem(atPath: driver)
      server.hangUp()
      try await server.waitForLog("APNs keys not reloaded")
      #expect(server.log.contains("APNS_DRIVER_PRIVATE_KEY_PATH: can't read"))
      try await Self.addRides(stage)
      try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
      try await stage.settled()
      #expect(
        Set(try stage.arrivals().map { $0.text("jwt", "kid") }) == ["SIMKEY0001", "DRIVERKEY3"])
      #expect(server.stop() == 0)
    }
  }

  @Test func `R105: an app's certificate sends its alerts, and serve says what it can't send`()
    async throws
  {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let shell = """
      set -e
      openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=Client CA' -keyout ca.key -out ca.crt
      openssl req -newkey rsa:2048 -nodes -subj '/UID=com.example.driver/CN=Push' -keyout d.key -out d.csr
      openssl x509 -req -in d.csr -CA ca.crt -CAkey ca.key -set_serial 7 -days 90 -out d.crt
      cat d.key d.crt > driver.pem
      """
    let made = try Tool.run("/bin/sh", ["-c", shell], in: folder)
    try #require(made.status == 0, "\(made.errors)")
    try await Stage.run(simulator: ["--client-ca", "\(folder)/ca.crt"]) { stage in
      var environment = try stage.environment(rules: Self.rules)
      environment["APNS_CUSTOMER_KEY_ID"] = environment.removeValue(forKey: "APNS_KEY_ID")
      environment["APNS_CUSTOMER_PRIVATE_KEY_PATH"] = environment.removeValue(
        forKey: "APNS_PRIVATE_KEY_PATH")
      environment["APNS_DRIVER_CERTIFICATE_PATH"] = "\(folder)/driver.pem"
      environment["APNS_DRIVER_CERTIFICATE_KEY_PATH"] = "\(folder)/driver.pem"
      let server = try Server(environment)
      try await server.waitForLog("cards of the app driver can't be sent")
      try await stage.addRide(state: "driver_arrived")
      try await stage.sql(
        """
        select ridepulse.register_live_activity(
          'r1', 'driver', 'd1', '\(String(repeating: "a1", count: 40))', 'activity')
        """)
      try await stage.settled()
      try await stage.until(
        "select reason_code from ridepulse.ledger where push_type = 'liveactivity' limit 1",
        is: "no_credential")
      let arrivals = try stage.arrivals()
      let drivers = arrivals.filter { $0.header("apns-topic") == "com.example.driver" }
      #expect(drivers.map { $0.text("certificate", "name") } == ["Push"])
      #expect(drivers.allSatisfy { $0.header("authorization") == nil && $0.isAccepted })
      let customers = arrivals.filter { $0.header("apns-topic") == "com.example.customer" }
      #expect(customers.map { $0.text("jwt", "kid") } == ["SIMKEY0001"])
      #expect(customers.allSatisfy { $0.header("authorization") != nil && $0.isAccepted })
      #expect(arrivals.count == 2, "no card left")
      #expect(server.stop() == 0)
    }
  }
}
