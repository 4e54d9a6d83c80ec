import Base
import Foundation
import LocalStack
import PushClient
import RideCore
import Synchronization

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
      now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) })
    let requests = try makeRequests()
    try await drive(client, Array(requests.prefix(window)), count: window)
    let (cpu, start) = (ProcessCost.own, Date())
    try await drive(client, requests, count: pushes)
    let (seconds, used) = (Date().timeIntervalSince(start), ProcessCost.own - cpu)
    await client.close(within: .seconds(5))
    return (Double(pushes) / seconds, used * 1e6 / Double(pushes))
  }

  /// Makes requests to ten thousand phones with one payload, like a batch of the engine.
  private func makeRequests() throws -> [PushRequest] {
    let body =
      payload + Array(repeating: UInt8(ascii: "x"), count: 500 - payload.count - 4)
      + Array(#""}}}"#.utf8)
    let expiration = PushExpiration.at(
      Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)))
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

  /// Keeps a window of pushes in flight until all are answered.
  private func drive(_ client: PushClient, _ requests: [PushRequest], count: Int) async throws {
    let run = ClientRun(client, requests, window: window)
    let accepted = await run.finish()
    if accepted != count {
      throw BenchFailure(text: "only \(accepted) of \(count) pushes were accepted")
    }
  }
}

/// Submits pushes so that a window of them is always in flight.
final class ClientRun: Sendable {
  private struct State {
    var next = 0
    var done = 0
    var accepted = 0
    var waiter: CheckedContinuation<Int, Never>?
  }

  private let client: PushClient
  private let requests: [PushRequest]
  private let window: Int
  private let state = Mutex(State())

  init(_ client: PushClient, _ requests: [PushRequest], window: Int) {
    self.client = client
    self.requests = requests
    self.window = window
  }

  /// Returns the number of accepted pushes, once all have ended.
  func finish() async -> Int {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      submit(window)
    }
  }

  private func submit(_ count: Int) {
    let range = state.withLock { state in
      let start = state.next
      state.next = min(requests.count, start + count)
      return start..<state.next
    }
    if range.isEmpty { return }
    client.submit(Array(requests[range])) { [self] reports in record(reports) }
  }

  private func record(_ reports: [PushReport]) {
    let waiter = state.withLock { state -> (CheckedContinuation<Int, Never>, Int)? in
      state.done += reports.count
      state.accepted += reports.count { $0.outcome == .accepted }
      guard state.done == requests.count, let waiter = state.waiter else { return nil }
      state.waiter = nil
      return (waiter, state.accepted)
    }
    if let (waiter, accepted) = waiter { waiter.resume(returning: accepted) }
    submit(reports.count)
  }
}
