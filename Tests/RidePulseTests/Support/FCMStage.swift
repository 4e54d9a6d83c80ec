import Base
import Foundation
import LocalStack
import RideCore
import TestSupport
import Testing

/// An fcm-simulator next to the stage of one test.
struct FCMStage {
  let stage: Stage
  let simulator: LocalFCMSimulator

  static let installation = "cX3abcDEFghiJKLmnoPQRs"
  static let registration = "dY4abcDEFghiJKLmnoPQRt:APA91bExample_of-a-Registration"

  /// Creates a stage with both simulators, runs the body, and removes everything.
  ///
  /// - Parameters:
  ///   - fcm: Further arguments for the command line of fcm-simulator.
  ///   - registrations: What `registrations.json` says; nothing if it is empty.
  static func run(
    fcm: [String] = [], registrations: String = "", _ body: (FCMStage) async throws -> Void
  ) async throws {
    try await Stage.run { stage in
      let directory = stage.directory + "/fcm"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      if !registrations.isEmpty {
        try Data(registrations.utf8).write(
          to: URL(fileURLWithPath: directory + "/registrations.json"))
      }
      let simulator = try LocalFCMSimulator(directory: directory, options: fcm)
      defer { simulator.stop() }
      try await body(FCMStage(stage: stage, simulator: simulator))
    }
  }

  /// The environment of a service for iPhones and Android phones.
  func environment(rules: String) throws -> [String: String] {
    try stage.environment(rules: rules).merging(simulator.environment) { $1 }
  }

  /// The environment of a service without any variable of APNs.
  func environmentOfAndroidOnly(rules: String) throws -> [String: String] {
    try environment(rules: rules).filter { !$0.key.hasPrefix("APNS_") }
  }

  /// Returns the messages that the simulator received, in order.
  func messages() throws -> [FCMArrival] { try lines(simulator.records).map(FCMArrival.init) }

  /// Returns what phones received or did not, in order.
  func deliveries() throws -> [JSONValue] { try lines(simulator.deliveries) }

  /// Returns the calls of the token endpoint, in order.
  func tokenCalls() throws -> [JSONValue] { try lines(simulator.directory + "/tokens.jsonl") }

  /// Returns the simulator's counters.
  func statistics() throws -> JSONValue {
    let result = try Command.run("/usr/bin/curl", curl + ["\(simulator.url)/simulator/stats"])
    return try #require(JSONValue(json: result.output.utf8), "\(result.errors)")
  }

  private var curl: [String] {
    ["--silent", "--fail", "--http2", "--cacert", "\(simulator.directory)/ca.pem"]
  }

  private func lines(_ path: String) throws -> [JSONValue] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .compactMap { JSONValue(json: $0.utf8) }
  }

  func faults(_ json: String) throws { try control("simulator/faults", json) }

  func phone(_ registration: String, _ state: String) throws {
    try control("phones/\(registration)/\(state)", "{}")
  }

  private func control(_ path: String, _ json: String) throws {
    let result = try Command.run(
      "/usr/bin/curl", curl + ["--data", json, "\(simulator.url)/\(path)"])
    #expect(result.status == 0, "\(result.errors)")
  }
}

/// One message as fcm-simulator recorded it.
struct FCMArrival {
  let record: JSONValue

  func text(_ path: String...) -> String? {
    switch record.value(at: path) {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  func data(_ name: String) -> String? { text("message", "data", name) }

  var registration: String? { text("registration") }
  var isAccepted: Bool { text("status") == "200" }
}
