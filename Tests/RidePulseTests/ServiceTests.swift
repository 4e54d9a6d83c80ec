import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("The service") struct ServiceTests {
  @Test func `--once handles what is due and exits; again there is nothing to do`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      let first = try Command.ridepulse(["serve", "--once"], stage.environment)
      #expect(first.status == 0, "\(first.errors)")
      let verdict = "select status from ridepulse.deliveries where rule = 'customer-driver-arrived'"
      #expect(try await stage.value(verdict) == "accepted")
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
      let second = try Command.ridepulse(["serve", "--once"], stage.environment)
      #expect(second.status == 0)
      #expect(try stage.arrivals().count == 1)
    }
  }

  @Test func `A SIGTERM right after the start is not lost`() async throws {
    try await Stage.run { stage in
      for _ in 0..<10 {
        let server = try Server(stage.environment)
        #expect(server.stop() == 0, "\(server.log)")
      }
    }
  }

  @Test func `A dry run prints nothing of schedule rules`() async throws {
    try await Stage.run { stage in
      try await stage.addRide(state: "driver_assigned")
      // The driver's reminder is long past, and has nothing to do with this event.
      try await stage.sql("update ridepulse.rides set pickup_at = now() - interval '1 day'")
      let words = ["trigger", "driver_assigned", "--ride", "r1", "--dry-run"]
      let dry = try Command.ridepulse(words, stage.environment)
      #expect(dry.status == 0, "\(dry.errors)")
      #expect(dry.output.contains("customer-driver-assigned"))
      #expect(!dry.output.contains("reminder"), "\(dry.output)")
    }
  }

  @Test func `R53: a dry run prints what the trigger then sends`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let words = ["trigger", "driver_nearby", "--ride", "r1"]
      let dry = try Command.ridepulse(words + ["--dry-run"], stage.environment)
      #expect(dry.status == 0, "\(dry.errors)")
      #expect(try await stage.value("select count(*) from ridepulse.ledger") == "0")
      let server = try Server(stage.environment)
      defer { server.stop() }
      let real = try Command.ridepulse(words + ["--wait"], stage.environment)
      #expect(real.status == 0, "\(real.errors)")
      #expect(real.output.contains("accepted: customer-driver-nearby to customer c1 …c1c1c1"))
      let arrival = try #require(try stage.arrivals().last)
      let own = ["apns-topic", "apns-push-type", "apns-priority", "apns-collapse-id"]
      for name in own {
        #expect(dry.output.contains("\(name): \(arrival.header(name) ?? "?")\n"), "\(dry.output)")
      }
      let body = try #require(arrival.record.value(at: ["payload"]))
      #expect(dry.output.contains(String(decoding: body.json, as: UTF8.self)), "\(dry.output)")
    }
  }

  @Test func `An unknown event is refused with the nearest known one`() async throws {
    try await Stage.run { stage in
      let result = try Command.ridepulse(
        ["trigger", "driver_arived", "--ride", "r1"], stage.environment)
      #expect(result.status == 64)
      #expect(result.errors.contains("did you mean driver_arrived?"))
    }
  }

  @Test func `A commit wakes it`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.until(
        "select count(*) from ridepulse.nodes where asleep", is: "1")
      try await stage.addRide()
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      #expect(server.log.contains("Woken"))
    }
  }

  @Test func `R60: the debug log contains no secrets`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      try await stage.addRide()
      try stage.faults(
        #"[{"match": {"every": 2}, "action": {"answer": {"status": 500}}, "times": 2}]"#)
      for event in ["driver_nearby", "waiting_fee_started", "driver_reassigned"] {
        try await stage.sql("select ridepulse.emit('\(event)', 'r1')")
      }
      try await stage.settled()
      #expect(server.stop() == 0)
      let key = try String(
        contentsOfFile: stage.simulator.environment["APNS_PRIVATE_KEY_PATH"] ?? "",
        encoding: .utf8)
      let secrets =
        [Stage.customerToken, Stage.driverToken, "eyJ", "PRIVATE KEY"]
        + key.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
      for secret in secrets { #expect(!server.log.contains(secret)) }
      #expect(server.log.contains("APNs connected"))
    }
  }

  @Test func `R58: rows of any content never stop it`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql(HostileRows.sql(count: 200, seed: 58))
      try await stage.settled()
      #expect(server.isRunning)
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.event == "driver_nearby" && $0.ride == "r1" })
    }
  }

  @Test func `demo: all pushes are accepted`() throws {
    let result = try Command.ridepulse(
      ["demo", "--for", "20s", "--rides", "3", "--schedules", Stage.rules])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("rides, "))
    #expect(result.output.contains(" accepted, half of them within "))
    #expect(result.output.contains(" of them by FCM, the others by APNs"))
    #expect(!result.output.contains("rejected"))
  }
}

/// Rides, phones and events with hostile values.
enum HostileRows {
  private static let texts = [
    "", "'", "\\", "\u{1F695}", "{{ride.id}}", "null", "1e999", "\u{202e}x", "-1", "Mars/Phobos",
    "\n", String(repeating: "x", count: 3000), "\"", "{", "%s",
  ]

  static func sql(count: Int, seed: UInt64) -> String {
    var state = seed
    func pick(_ texts: [String]) -> String {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return texts[Int((state >> 33) % UInt64(texts.count))]
    }
    func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
    let events = ["driver_arrived", "eta_changed", "ride_offer", "nonsense", "pickup_changed"]
    let attributes = [
      "{}", "[]", "null", "1", "\"x\"", #"{"plate": 1e999}"#, #"{"plate": {"a": [1, null]}}"#,
      #"{"driver_name": ""}"#, #"{"plate": "\ud83d\ude95"}"#,
      String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
    ]
    let data = [
      "{}", #"{"eta_epoch": "soon"}"#, #"{"eta_epoch": 1e300}"#, #"{"driver_id": 7}"#,
      #"{"eta_epoch": -99999999999999}"#, #"{"address": ""}"#, #"{"driver_id": null}"#,
    ]
    return (0..<count).map { number in
      """
      insert into ridepulse.rides (id, state, customer_id, driver_id, time_zone, attributes)
      values (left(\(quoted("\(number)" + pick(texts))), 512), \(quoted(pick(events + texts))), 'c1', 'd1',
        \(quoted(pick(texts))), \(quoted(pick(attributes))));
      insert into ridepulse.events (event, ride_id, data)
      select \(quoted(pick(events))), id, \(quoted(pick(data)))
      from ridepulse.rides where id like '\(number)%' limit 1;
      insert into ridepulse.devices (app, owner_id, token, locale)
      values ('customer', 'c\(number % 7)', left(\(quoted("x" + pick(texts))), 512),
        left(\(quoted(pick(texts))), 512)) on conflict (app, token) do nothing;
      """
    }.joined(separator: "\n")
  }
}

/// Tests of the log of a service without faults.
@Suite struct LogTests {
  private func serve(_ format: String, rides: Int) async throws -> [Substring] {
    var lines: [Substring] = []
    try await Stage.run { stage in
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, \(rides)) n;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'driver_arrived', 'c' || n from generate_series(1, \(rides)) n
        """)
      let result = try Command.ridepulse(
        ["serve", "--once", "--log-level", "info", "--log-format", format], stage.environment)
      #expect(result.status == 0)
      let accepted = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'accepted'")
      #expect(accepted == "\(rides)")
      lines = result.errors.split(separator: "\n")
    }
    return lines
  }

  @Test func `The log of three hundred pushes is as long as that of one`() async throws {
    let (few, many) = (try await serve("text", rides: 1), try await serve("text", rides: 300))
    #expect(few.count == many.count && (1...12).contains(many.count), "\(many)")
    for line in many {
      #expect(line.contains(/^\d{4}-\d\d-\d\dT\S+Z (INFO|WARNING) [A-Z]/), "\(line)")
    }
  }

  @Test func `As JSON each line is an object with time, level and message`() async throws {
    for line in try await serve("json", rides: 3) {
      let record = JSONValue(json: line.utf8)
      for name in ["time", "level", "message"] {
        guard case .string = record?.value(at: [name]) else {
          Issue.record("no \(name) in \(line)")
          return
        }
      }
    }
  }
}
