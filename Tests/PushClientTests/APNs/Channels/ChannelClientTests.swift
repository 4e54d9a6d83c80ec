import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

/// A channel client connected to a fault server.
struct ChannelBench {
  let server: FaultServer
  let client: ChannelClient
  /// A direct sender to the same server, for calls whose deadline the test chooses.
  let sender: ChannelSender

  static let scope = ChannelScope(bundleID: "com.example.customer", environment: .production)
  static let request = PushID(of: "channel", "1")

  static func newChannel(_ storage: ChannelStorage) -> NewChannel {
    NewChannel(app: .customer, scope: scope, storage: storage, requestID: request)
  }

  init(
    _ script: String, timeout: Duration = .seconds(10),
    clock: @escaping @Sendable () -> Timestamp = {
      Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
  ) async throws {
    server = try await FaultServer(script)
    let fixtures = try Fixtures.shared.get()
    var configuration = try APNsConfiguration(
      productionURL: "https://127.0.0.1:1", caFile: fixtures.path("ca.pem"))
    configuration.productionChannels = try APNsEndpoint(server.url)
    configuration.requestTimeout = timeout
    let key = try SigningKey(
      path: fixtures.path("key.p8"), keyID: "ABCDE12345", teamID: "TEAM123456")
    client = ChannelClient(
      configuration: configuration, credentials: Credentials(key: key), now: clock)
    sender = ChannelSender(
      endpoint: configuration.productionChannels, configuration: configuration,
      authentication: .token(TokenMint(key: key)), now: clock)
  }

  /// Creates a server with one answer for each request, in order; the last one serves all later
  /// requests.
  init(answers: String...) async throws {
    try await self.init(#"{"connections":[{"answers":[\#(answers.joined(separator: ","))]}]}"#)
  }

  static func id(_ text: String) throws -> ChannelID { try #require(ChannelID(text)) }

  func create() async -> Result<ChannelID, ChannelError> {
    await Self.result { () async throws(ChannelError) in
      try await client.create(Self.newChannel(.latest))
    }
  }

  static func result<Value: Sendable>(
    _ body: () async throws(ChannelError) -> Value
  ) async -> Result<Value, ChannelError> {
    do throws(ChannelError) {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Failure == ChannelError {
  var error: ChannelError? {
    if case .failure(let error) = self { error } else { nil }
  }

  var value: Success? { try? get() }
}

/// Checks the calls in Apple's documentation of channels against a server written without our
/// HTTP/2 code.
@Suite struct ChannelClientTests {
  private func requests(_ lines: [FaultServer.Line]) -> [FaultServer.Line] {
    lines.filter { $0.event == "request" }
  }

  /// Checks all headers except the values that differ from call to call.
  private func check(
    _ line: FaultServer.Line, _ method: String, _ path: String, port: Int,
    also expected: [String: String] = [:], body: String = ""
  ) {
    var headers = line.headers ?? [:]
    let authorization = headers.removeValue(forKey: "authorization") ?? ""
    #expect(authorization.contains(#/^bearer [\w-]+\.[\w-]+\.[\w-]{86}$/#))
    let id = headers.removeValue(forKey: "apns-request-id") ?? ""
    #expect(PushID(id)?.description == id)
    let fixed = [
      ":method": method, ":scheme": "https", ":authority": "127.0.0.1:\(port)", ":path": path,
    ]
    #expect(headers == fixed.merging(expected) { $1 })
    #expect(line.text == body && line.body == body.utf8.count)
  }

  @Test("R31: a create is Apple's, header by header and byte by byte", arguments: [0, 1])
  func create(policy: Int64) async throws {
    let answer = #"{"status":201,"headers":[["apns-channel-id","dHN0LXNyY2gtY2hubA/+=="]]}"#
    let bench = try await ChannelBench(answers: answer)
    let storage = try #require(ChannelStorage(policy: policy))
    let id = try await bench.client.create(ChannelBench.newChannel(storage))
    #expect(id.rawValue == "dHN0LXNyY2gtY2hubA/+==")
    let lines = requests(await bench.server.stop())
    #expect(lines.count == 1)
    let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
    check(
      lines[0], "POST", "/1/apps/com.example.customer/channels", port: bench.server.port,
      also: ["content-type": "application/json", "content-length": String(body.utf8.count)],
      body: body)
    #expect(lines[0].headers?["apns-request-id"] == ChannelBench.request.description)
  }

  @Test("R31: read, list and delete are Apple's: paths, the channel's header, no bodies")
  func others() async throws {
    let bench = try await ChannelBench(
      answers:
        #"{"status":200,"body":"{\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}"}"#,
      #"{"status":200,"body":"{\"channels\":[\"YQ==\",\"b/+c\"]}"}"#, #"{"status":204}"#)
    let (client, scope) = (bench.client, ChannelBench.scope)
    let channel = try ChannelBench.id("b/+c")
    #expect(try await client.storage(of: channel, in: scope) == .latest)
    #expect(try await client.all(in: scope).map(\.rawValue) == ["YQ==", "b/+c"])
    try await client.delete(channel, in: scope)
    let lines = requests(await bench.server.stop())
    let (path, port) = ("/1/apps/com.example.customer/channels", bench.server.port)
    #expect(lines.count == 3)
    check(lines[0], "GET", path, port: port, also: ["apns-channel-id": "b/+c"])
    check(lines[1], "GET", "/1/apps/com.example.customer/all-channels", port: port)
    check(lines[2], "DELETE", path, port: port, also: ["apns-channel-id": "b/+c"])
    #expect(Set(lines.map(\.connection)) == [0], "one connection serves them all")
    #expect(Set(lines.compactMap { $0.headers?["apns-request-id"] }).count == 3)
  }

  @Test("R31: hosts and ports of both environments are Apple's, and may be others")
  func endpoints() throws {
    var configuration = APNsConfiguration()
    #expect(
      configuration.channels(of: .production).description
        == "https://api-manage-broadcast.push.apple.com:2196")
    #expect(
      configuration.channels(of: .sandbox).description
        == "https://api-manage-broadcast.sandbox.push.apple.com:2195")
    #expect(
      configuration.broadcast(of: .production).description == "https://api.push.apple.com:443")
    configuration.sandbox = try APNsEndpoint("https://127.0.0.1:1")
    #expect(configuration.broadcast(of: .sandbox).description == "https://127.0.0.1:1")
    configuration.sandboxBroadcast = try APNsEndpoint("https://127.0.0.1:2")
    #expect(configuration.broadcast(of: .sandbox).description == "https://127.0.0.1:2")
  }

  @Test("A refusal has Apple's reason, and a text")
  func refused() async throws {
    let bench = try await ChannelBench(
      answers:
        #"{"status":400,"headers":[["apns-request-id","r-1"]],"body":"{\"reason\":\"CannotCreateChannelConfig\"}"}"#
    )
    let error = try #require(await bench.create().error)
    #expect(
      error
        == .refused(
          ChannelRefusal(status: 400, reason: "CannotCreateChannelConfig", requestID: "r-1")))
    #expect(!error.mayHaveTakenEffect)
    #expect("\(error)".contains("10,000 channels") && "\(error)".contains("reconcile --apply"))
    #expect(requests(await bench.server.stop()).count == 1)
  }

  @Test("What went wrong inside APNs may have made a channel", arguments: [500, 502, 504])
  func problem(status: Int) async throws {
    let bench = try await ChannelBench(answers: #"{"status":\#(status),"body":"<html>"}"#)
    let error = try #require(await bench.create().error)
    #expect(error == .refused(ChannelRefusal(status: status)))
    #expect(error.mayHaveTakenEffect)
    #expect(requests(await bench.server.stop()).count == 1)
  }
}
