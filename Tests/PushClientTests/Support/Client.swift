import Base
import Foundation
import RideCore
import Synchronization
import TestSupport
import Testing

@testable import PushClient

/// A client connected to a fault server, with the events that it emits.
struct TestClient {
  let client: PushClient
  let events: AsyncStream<TransportEvent>

  init(
    _ url: String, ca: String = "ca.pem", requestTimeout: Duration = .seconds(60),
    clockOffset: Duration = .zero, credentials: Credentials? = nil,
    change: (inout APNsConfiguration) -> Void = { _ in }
  ) throws {
    let fixtures = try Fixtures.shared.get()
    var configuration = try APNsConfiguration(productionURL: url, caFile: fixtures.path(ca))
    configuration.requestTimeout = requestTimeout
    configuration.backoffBase = .milliseconds(20)
    change(&configuration)
    let (stream, continuation) = AsyncStream.makeStream(of: TransportEvent.self)
    events = stream
    client = try PushClient(
      configuration: configuration,
      credentials: credentials ?? Credentials(key: fixtures.key()),
      now: {
        Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) + clockOffset
      },
      events: { continuation.yield($0) })
  }

  /// Sends pushes and returns their outcomes in the order of the requests.
  func send(_ requests: [PushRequest]) async -> [PushOutcome] {
    let reports = await Collected.reports(of: requests, by: client)
    return requests.map { request in
      reports.first { $0.ticket == request.ticket }?.outcome ?? .unsent(.invalid("no report"))
    }
  }

  func send(_ request: PushRequest) async -> PushOutcome { await send([request])[0] }

  /// Waits for an event; if it never occurs, the test fails instead of hanging.
  func wait(for test: @escaping @Sendable (TransportEvent.Kind) -> Bool) async {
    let events = events
    let hasCome = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await event in events where test(event.kind) { return true }
        return false
      }
      group.addTask {
        try? await Task.sleep(for: patience)  // poll: a limit, which is cancelled
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    if !hasCome { Issue.record("an event that was waited for did not come") }
  }

  func close() async { await client.close(within: .seconds(5)) }
}

extension PushClient {
  /// The statistics of all connections to one network.
  func statistics(of network: PushNetwork) -> TransportStatistics {
    statistics().filter { $0.network == network }
      .reduce(TransportStatistics()) { $0 + $1.connections }
  }
}

/// Collects the reports of one call until each push has one.
enum Collected {
  static func reports(of requests: [PushRequest], by client: PushClient) async -> [PushReport] {
    await withCheckedContinuation { continuation in
      let box = Box(continuation: continuation, expected: requests.count)
      client.submit(requests) { box.add($0) }
    }
  }

  private final class Box: Sendable {
    private let reports = Mutex<[PushReport]>([])
    private let continuation: CheckedContinuation<[PushReport], Never>
    private let expected: Int

    init(continuation: CheckedContinuation<[PushReport], Never>, expected: Int) {
      self.continuation = continuation
      self.expected = expected
    }

    func add(_ more: [PushReport]) {
      let all = reports.withLock { all -> [PushReport]? in
        all += more
        return all.count == expected ? all : nil
      }
      if let all { continuation.resume(returning: all) }
    }
  }
}

extension PushRequest {
  /// A push with a number that distinguishes it from others.
  static func test(
    _ number: UInt64, network: PushNetwork = .production,
    payload: [UInt8] = Array(#"{"aps":{}}"#.utf8), topic: String = "com.example.customer"
  ) -> PushRequest {
    PushRequest(
      ticket: number, network: network, address: .device(DeviceToken.test),
      headers: PushHeaders(
        id: PushID(of: "test", String(number)), topic: topic, pushType: .alert,
        priority: .immediate, expiration: .neverStore), payload: payload)
  }

  var idText: String { headers.id.description }
}

extension DeviceToken {
  static var test: DeviceToken {
    guard let token = DeviceToken("00112233445566778899aabbccddeeff") else {
      preconditionFailure("a token of digits")
    }
    return token
  }
}
