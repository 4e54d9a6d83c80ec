import Base
import Foundation
import LocalStack
import PushClient
import RideCore

/// Measures the client, h2load and Google's own library with the same messages to fcm-simulator.
///
/// FCM has no sink: the simulator checks and records each message.
struct FCMBench: ServerBench {
  private let directory = NSTemporaryDirectory() + "ridepulse-bench-\(UUID().uuidString)"
  private let near: LocalFCMSimulator
  /// It answers as late as a server far away, so that streams limit the rate.
  private let distant: LocalFCMSimulator
  private let messages = 100_000
  /// More than all streams of the connections that the client may open.
  private let window = 1_000

  /// One way of the client to a simulator.
  private struct Sending {
    /// Messages a second.
    let rate: Double
    /// Microseconds of CPU for a message.
    let cost: Double
    let connections: Int
  }

  init() throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    near = try LocalFCMSimulator(directory: directory + "/near")
    distant = try LocalFCMSimulator(
      directory: directory + "/distant", options: ["--latency", "50"])
  }

  func end() {
    near.stop()
    distant.stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  func run() async throws -> [Figure] {
    let own = try await send(messages, to: near)
    let distant = try await send(messages / 4, to: distant)
    let other = try h2load(connections: own.connections)
    let group =
      "FCM, \(messages) messages of \(FCMMessage.body(0).count) bytes to fcm-simulator, "
      + "100 streams a connection"
    let goal = "at least 5,000"
    return [
      .plain(group, "messages/s", own.rate, digits: 0, goal: goal),
      .plain(group, "connections", Double(own.connections), digits: 0),
      .plain(group, "messages/s, answers after 50 ms", distant.rate, digits: 0, goal: goal),
      .plain(
        group, "connections, answers after 50 ms", Double(distant.connections), digits: 0),
      .cpu(group, "CPU a message", own.cost),
      .cpu(group, "h2load, CPU a message", other.cost),
      .plain(group, "CPU a message ÷ that of h2load", own.cost / other.cost, digits: 2),
      .plain(group, "h2load, messages/s", other.rate, digits: 0),
    ] + (try FirebaseAdmin.figures(near))
  }

  private func send(_ count: Int, to simulator: LocalFCMSimulator) async throws -> Sending {
    let client = try PushClient(
      configuration: Self.configuration(of: simulator),
      credentials: Credentials(
        lanes: [:], bundleIDs: [:], serviceAccount: Self.account(of: simulator)),
      now: { .wall })
    let requests = try (0..<count).map(FCMMessage.request)
    try await ClientRun.drive(client, Array(requests.prefix(window)), window: window)
    let (cpu, start) = (ProcessCost.own, Date())
    try await ClientRun.drive(client, requests, window: window)
    let (seconds, used) = (Date().timeIntervalSince(start), ProcessCost.own - cpu)
    let connections = client.statistics().reduce(0) { $0 + $1.connections.openConnections }
    await client.close(within: .seconds(5))
    return Sending(
      rate: Double(count) / seconds, cost: used * 1e6 / Double(count), connections: connections)
  }

  private func h2load(connections: Int) throws -> H2Load {
    let token = try FCMProbe.accessToken(
      of: Self.account(of: near), trust: Self.authority(of: near), at: .wall)
    let body = directory + "/body"
    try Data(FCMMessage.body(0)).write(to: URL(fileURLWithPath: body))
    return try H2Load(
      pushes: messages,
      [
        "-c", "\(connections)", "-m", "100", "-d", body,
        "-H", "authorization: Bearer \(token)", "-H", "content-type: application/json",
        "\(near.url)/v1/projects/rides/messages:send",
      ])
  }

  private static func configuration(of simulator: LocalFCMSimulator) throws -> APNsConfiguration {
    var configuration = APNsConfiguration()
    configuration.fcm = try APNsEndpoint(simulator.url)
    configuration.fcmCAFile = authority(of: simulator)
    return configuration
  }

  private static func account(of simulator: LocalFCMSimulator) throws -> ServiceAccount {
    try ServiceAccount(path: simulator.environment["FCM_SERVICE_ACCOUNT_PATH"] ?? "")
  }

  private static func authority(of simulator: LocalFCMSimulator) -> String? {
    simulator.environment["FCM_CA_FILE"]
  }
}

/// Alerts to ten thousand Android phones, as the engine writes them.
enum FCMMessage {
  static func request(_ index: Int) throws -> PushRequest {
    guard let registration = FCMRegistration(phone(index)) else {
      throw BenchFailure(text: "bad registration")
    }
    return PushRequest(
      ticket: UInt64(index), network: .android, address: .registration(registration),
      headers: PushHeaders(
        id: id(index), topic: "", pushType: .alert, priority: .immediate,
        expiration: .at(.wall + .seconds(300))),
      payload: body(index))
  }

  static func body(_ index: Int) -> [UInt8] {
    let text =
      #"{"message":{"android":{"notification":{"body":"Ana is waiting, B-RP 4711","#
      + #""channel_id":"ride_now","default_sound":true,"event_time":"2026-11-23T08:00:00Z","#
      + #""notification_priority":"PRIORITY_HIGH","tag":"ride-4711","#
      + #""title":"Your driver is here"},"priority":"HIGH","ttl":"287s"},"#
      + #""data":{"event":"driver_arrived","ride_id":"ride-4711","rp_id":"\#(id(index))","#
      + #""rp_kind":"alert","rp_ride":"ride-4711","rp_ts":"1795420800","rp_until":"1795421087"},"#
      + #""fid":"\#(phone(index))"}}"#
    return Array(text.utf8)
  }

  private static func id(_ index: Int) -> PushID { PushID(of: "bench", String(index)) }

  /// An installation ID.
  private static func phone(_ index: Int) -> String {
    "c" + String(index % 10_000, radix: 16, width: 21)
  }
}
