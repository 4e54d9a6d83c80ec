import Base
import Foundation
import LocalStack
import PushClient
import RideCore

/// (a) Measures the client alone against a sink.
struct ClientBench: ServerBench {
  private let directory = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString)"
  private let simulator: LocalSimulator
  private let pushes = 200_000
  private let window = 1_000
  private let payload = Array(#"{"aps":{"alert":{"title":"Your driver is here","body":""#.utf8)

  init() throws {
    simulator = try LocalSimulator(
      directory: directory, options: ["--sink", "--initial-streams", "1000"])
  }

  func end() {
    simulator.stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  func run() async throws -> [Figure] {
    let (rate, cost) = try await client()
    let group = "client alone, \(pushes) pushes of 500 bytes to a sink"
    return [
      .cpu(group, "CPU a push", cost, goal: "at most 1.15"),
      .cpu(group, "time from push to push", 1e6 / rate),
      .plain(group, "pushes/s", rate, digits: 0),
    ]
  }

  private func client() async throws -> (rate: Double, cost: Double) {
    let variables = simulator.environment
    let configuration = try APNsConfiguration(
      productionURL: simulator.url, caFile: variables["APNS_CA_FILE"])
    let key = try SigningKey(
      path: variables["APNS_PRIVATE_KEY_PATH"] ?? "", keyID: variables["APNS_KEY_ID"] ?? "",
      teamID: variables["APNS_TEAM_ID"] ?? "")
    let client = try PushClient(
      configuration: configuration, key: key,
      now: { .wall })
    let requests = try makeRequests()
    try await ClientRun.drive(client, Array(requests.prefix(window)), window: window)
    let (cpu, start) = (ProcessCost.own, Date())
    try await ClientRun.drive(client, requests, window: window)
    let (seconds, used) = (Date().timeIntervalSince(start), ProcessCost.own - cpu)
    await client.close(within: .seconds(5))
    return (Double(pushes) / seconds, used * 1e6 / Double(pushes))
  }

  /// Makes requests to ten thousand phones with one payload, like a batch of the engine.
  private func makeRequests() throws -> [PushRequest] {
    let body =
      payload + Array(repeating: UInt8(ascii: "x"), count: 500 - payload.count - 4)
      + Array(#""}}}"#.utf8)
    let expiration = PushExpiration.at(.wall)
    return try (0..<pushes).map { index in
      guard let token = DeviceToken(String(index % 10_000, radix: 16, width: 64)) else {
        throw BenchFailure(text: "bad token")
      }
      let id = PushID(of: "bench", String(index))
      return PushRequest(
        ticket: UInt64(index), network: .production, address: .device(token),
        headers: PushHeaders(
          id: id, topic: "com.example.customer", pushType: .alert, priority: .immediate,
          expiration: expiration, collapseID: CollapseID(id.description)),
        payload: body)
    }
  }
}
