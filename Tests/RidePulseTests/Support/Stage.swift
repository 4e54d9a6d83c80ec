import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import StoreTestSupport
import Testing
import TestSupport

extension PostgresSession {
  /// A session for tests that measure no limit: the machine may stall for longer than it.
  convenience init(conninfo: String) throws(PostgresError) {
    try self.init(conninfo: conninfo, leastTimeout: patience)
  }
}

/// A database, a simulator and environment variables for a service, used by one test.
struct Stage {
  let conninfo: String
  let session: PostgresSession
  let simulator: LocalSimulator
  let directory: String

  static let customerToken = String(repeating: "c1", count: 32)
  static let driverToken = String(repeating: "d1", count: 32)

  /// Each stage has a simulator, sessions and servers.
  private static let turnstile = Turnstile(capacity: 3, most: 7)

  /// Creates a migrated database and a simulator, runs the body, and removes everything.
  ///
  /// - Parameter simulator: Further arguments for the simulator's command line.
  static func run(
    cluster: LocalCluster? = nil, simulator: [String] = [], _ body: (Stage) async throws -> Void
  ) async throws {
    try await turnstile.pass { try await play(cluster, simulator, body) }
  }

  private static func play(
    _ cluster: LocalCluster?, _ options: [String], _ body: (Stage) async throws -> Void
  ) async throws {
    let directory = try ScratchFolder.create()
    let cluster = if let cluster { cluster } else { try await LocalCluster.shared() }
    let conninfo = try await cluster.migratedDatabase()
    let session = try PostgresSession(conninfo: conninfo)
    let simulator = try LocalSimulator(directory: directory, options: options)
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
    ScratchFolder.remove(directory)
    try result.get()
  }

  /// The environment variables of a service in this test.
  var environment: [String: String] {
    simulator.environment.merging([
      "DATABASE_URL": conninfo, "RIDEPULSE_SCHEDULES": Self.rules, "RIDEPULSE_ADMIN": "off",
    ]) { own, _ in own }
  }

  /// Returns the environment with the test's own rule files.
  func environment(rules text: String) throws -> [String: String] {
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: rules + "/a.yaml"))
    return environment.merging(["RIDEPULSE_SCHEDULES": rules]) { $1 }
  }

  /// The project's own rule directory.
  static let rules = Project.path("schedules")

  /// Runs several statements in one transaction.
  func sql(_ text: String) async throws {
    try await session.script(text, timeout: patience)
  }

  /// Returns the rows of a query, each value as text.
  func rows(_ text: String) async throws -> [[String?]] {
    let call = Call(Statement(name: "", sql: text))
    let result = try await session.run([call], timeout: patience)[0]
    return (0..<result.rowCount).map { row in
      (0..<result.columnCount).map { result.string(row, $0) }
    }
  }

  /// Returns one value as text.
  func value(_ text: String) async throws -> String? {
    try await rows(text).first?.first ?? nil
  }

  /// The number of sessions of this database that wait for an advisory lock; others may wait for
  /// locks of the same key in theirs.
  static let waitingForAdvisoryLock = """
    select count(*) from pg_locks join pg_database d on d.oid = database
    where locktype = 'advisory' and not granted and datname = current_database()
    """

  /// Waits until a query's single value is as expected; on timeout, the failure shows the last one.
  func until(
    _ query: String, is expected: String, within limit: Duration = patience,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    var last: String?
    do {
      try await wait(
        until: "\(query) is \(expected); it is \(last ?? "null")", within: limit
      ) {
        // The database may be stopping or starting; the time limit still applies.
        last = (try? await value(query)) ?? last
        return last == expected
      }
    } catch let failure as TestFailure {
      Issue.record(failure, sourceLocation: sourceLocation)
    }
  }

  /// Waits until every event is consumed, every push has its verdict, and its outcome is applied to
  /// the phone.
  ///
  /// What waits for hours, as the rating of the shipped rules, is left waiting.
  func settled(
    within limit: Duration = patience, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    try await until(
      Self.unsettled(horizon: "1 hour"), is: "0", within: limit, sourceLocation: sourceLocation)
  }

  /// A query of the number of events, pushes and outcomes that are not settled, without what waits
  /// for longer than the horizon.
  static func unsettled(horizon: String) -> String {
    """
    select (select count(*) from ridepulse.events)
      + (select count(*) from ridepulse.ledger l left join ridepulse.agenda a using (ride_id)
        where l.status = 'pending'
          and (a.due_at is null or a.due_at < now() + interval '\(horizon)'))
      + (select count(*) from ridepulse.token_outcomes)
    """
  }

  /// Adds a ride with a customer and a driver, each with a phone.
  func addRide(_ id: String = "r1", state: String = "requested") async throws {
    try await sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Self.customerToken)');
      select ridepulse.register_device('driver', 'd1', '\(Self.driverToken)');
      insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
      values ('\(id)', '\(state)', 'c1', 'd1', '{"driver_name": "Ana", "plate": "B-RP 1"}')
      """)
  }

  /// Passes the environment of a role that may only read, and without access to APNs.
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

  /// Returns the requests that the simulator received, in order.
  func arrivals() throws -> [Arrival] {
    guard let text = try? String(contentsOfFile: simulator.records, encoding: .utf8) else {
      return []
    }
    return text.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }.map(Arrival.init)
  }

  /// Returns the arrivals of alerts, without the requests by which doctor tries the connections.
  func pushes() throws -> [Arrival] {
    try arrivals().filter { $0.aps("alert", "title") != nil }
  }

  func faults(_ json: String) throws { try controlSimulator("simulator/faults", json) }

  /// Sets the states of tokens in the simulator.
  func tokens(_ json: String) throws { try controlSimulator("simulator/tokens", json) }

  /// Takes a phone off the network, or back on it; returns what the simulator answers.
  @discardableResult
  func device(_ token: String, _ state: String) throws -> String {
    try controlSimulator("devices/\(token)/\(state)", "{}")
  }

  @discardableResult
  private func controlSimulator(_ path: String, _ json: String) throws -> String {
    let result = try Command.run(
      "/usr/bin/curl",
      [
        "--silent", "--fail", "--http2", "--cacert", "\(directory)/ca.pem", "--data", json,
        "\(simulator.url)/\(path)",
      ])
    #expect(result.status == 0, "\(result.errors)")
    return result.output
  }
}

/// One line of the simulator's records.
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
  /// Returns a member of `aps`.
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
