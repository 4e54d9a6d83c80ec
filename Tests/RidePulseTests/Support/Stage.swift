import Foundation
import LocalPostgres
import PostgresStore
import RideCore
import Testing

/// A database, a simulator and the variables to serve with, of one test's own.
struct Stage {
  let conninfo: String
  let session: PostgresSession
  let simulator: LocalSimulator
  let directory: String

  static let customerToken = String(repeating: "c1", count: 32)
  static let driverToken = String(repeating: "d1", count: 32)

  /// Makes a migrated database and a simulator, runs the body, and takes everything away again.
  static func run(
    cluster: LocalCluster? = nil, _ body: (Stage) async throws -> Void
  ) async throws {
    try await Turnstile.stages.pass { try await play(cluster: cluster, body) }
  }

  private static func play(
    cluster: LocalCluster?, _ body: (Stage) async throws -> Void
  ) async throws {
    let directory = "/tmp/ridepulse-test-\(UUID().uuidString)"
    let cluster = if let cluster { cluster } else { try await LocalCluster.shared() }
    let conninfo = try await cluster.freshDatabase()
    let session = try PostgresSession(conninfo: conninfo)
    _ = try await Migrations.apply(session: session)
    let simulator = try LocalSimulator(directory: directory)
    let stage = Stage(
      conninfo: conninfo, session: session, simulator: simulator, directory: directory)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(stage))
    } catch {
      result = .failure(error)
    }
    simulator.stop()
    await session.close()
    try? FileManager.default.removeItem(atPath: directory)
    try result.get()
  }

  /// The variables of a service on this stage.
  var environment: [String: String] {
    simulator.environment.merging([
      "DATABASE_URL": conninfo, "RIDEPULSE_SCHEDULES": Self.rules, "RIDEPULSE_ADMIN": "off",
    ]) { own, _ in own }
  }

  /// The same with rule files of the test's own.
  func environment(rules text: String) throws -> [String: String] {
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: rules + "/a.yaml"))
    return environment.merging(["RIDEPULSE_SCHEDULES": rules]) { $1 }
  }

  /// The project's own rule files.
  static let rules = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("schedules").path

  /// Runs several commands in one transaction.
  func sql(_ text: String) async throws {
    try await session.script(text)
  }

  /// The rows of a query, each value as text.
  func rows(_ text: String) async throws -> [[String?]] {
    let result = try await session.run([Call(Statement(name: "", sql: text))])[0]
    return (0..<result.rowCount).map { row in
      (0..<result.columnCount).map { result.string(row, $0) }
    }
  }

  /// One value as text.
  func value(_ text: String) async throws -> String? {
    try await rows(text).first?.first ?? nil
  }

  /// Waits until a query's one value is as expected; the last one stands in the failure.
  func until(
    _ query: String, is expected: String, within limit: Duration = .seconds(240),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let end = ContinuousClock.now + limit
    var last: String?
    while ContinuousClock.now < end {
      // The database may be on its way down or up; the limit holds all the same.
      last = (try? await value(query)) ?? last
      if last == expected { return }
      try await Task.sleep(for: .milliseconds(20))  // poll: the ledger tells nobody
    }
    Issue.record(
      "\(query) is \(last ?? "null") and not \(expected)", sourceLocation: sourceLocation)
  }

  /// Waits until every event is consumed, every push has its verdict, and its phone what follows
  /// from that.
  func settled(
    within limit: Duration = .seconds(240), sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await until(
      """
      select (select count(*) from ridepulse.events)
        + (select count(*) from ridepulse.ledger where status = 'pending')
        + (select count(*) from ridepulse.token_outcomes)
      """, is: "0", within: limit, sourceLocation: sourceLocation)
  }

  /// A ride with a customer and a driver, and a phone for each.
  func addRide(_ id: String = "r1", state: String = "requested") async throws {
    try await sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Self.customerToken)');
      select ridepulse.register_device('driver', 'd1', '\(Self.driverToken)');
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
      values ('\(id)', '\(state)', 'c1', 'd1', '{"driver_name": "Ana", "plate": "B-RP 1"}')
      """)
  }

  /// Hands over the variables of a role that may only read, and no way to APNs.
  func asReader(_ body: ([String: String]) async throws -> Void) async throws {
    let reader = "reader_\(UUID().uuidString.replacing("-", with: "").prefix(12).lowercased())"
    try await sql(
      """
      create role \(reader) login;
      grant usage on schema ridepulse to \(reader);
      grant select on all tables in schema ridepulse to \(reader)
      """)
    try await body(
      environment.merging([
        "DATABASE_URL": "\(conninfo) user=\(reader)",
        "APNS_PRODUCTION_URL": "https://127.0.0.1:1",
      ]) { $1 })
    try await sql("drop owned by \(reader); drop role \(reader)")
  }

  /// What arrived at the simulator, in its order.
  func arrivals() throws -> [Arrival] {
    guard let text = try? String(contentsOfFile: simulator.records, encoding: .utf8) else {
      return []
    }
    return text.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }.map(Arrival.init)
  }

  /// Sets the simulator's faults.
  func faults(_ json: String) throws { try tellSimulator("faults", json) }

  /// Says what the simulator knows of tokens.
  func tokens(_ json: String) throws { try tellSimulator("tokens", json) }

  private func tellSimulator(_ what: String, _ json: String) throws {
    let result = try Command.run(
      "/usr/bin/curl",
      [
        "--silent", "--fail", "--http2", "--cacert", "\(directory)/ca.pem", "--data", json,
        "\(simulator.url)/simulator/\(what)",
      ])
    #expect(result.status == 0, "\(result.errors)")
  }
}

/// One line of the simulator's record.
struct Arrival {
  let record: JSONValue

  func text(_ path: String...) -> String? {
    switch record.value(at: path) {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  func header(_ name: String) -> String? { text("headers", name) }

  var token: String { text("token") ?? "" }
  var id: String { header("apns-id") ?? "" }
  var event: String? { text("payload", "event") }
  var ride: String? { text("payload", "ride_id") }
  /// A member of `aps`.
  func aps(_ path: String...) -> String? {
    switch record.value(at: ["payload", "aps"] + path) {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  var timestamp: Int64? { aps("timestamp").flatMap { Int64($0) } }

  /// Seconds since 1970.
  var receivedAt: Double {
    switch record.value(at: ["received_at"]) {
    case .number(let seconds): seconds
    case .integer(let seconds): Double(seconds)
    default: 0
    }
  }

  var isAccepted: Bool { text("status") == "200" }
}
