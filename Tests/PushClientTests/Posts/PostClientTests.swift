import Base
import Foundation
import RideCore
import Synchronization
import Testing

@testable import PushClient

/// Posts to a receiver that checks signatures with a library of others.
@Suite struct PostClientTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let other = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
  private static let variable = "RIDEPULSE_POST_SMS_URL"

  private static func client(
    _ port: Int, _ path: String, secrets: String = secret, within limit: Duration = .seconds(10)
  ) throws -> PostClient {
    let signer = try #require(WebhookSigner(secrets: secrets))
    let receiver = try #require(
      PostReceiver(url: "http://127.0.0.1:\(port)/\(path)", signer: signer))
    // The library compares the time of a signature with the wall clock.
    return PostClient(
      receivers: [variable: receiver], timeLimit: limit,
      now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) })
  }

  private static func post(_ number: Int = 0, rule: String = "r", to name: String = "sms")
    -> PushRequest
  {
    PushRequest(
      ticket: UInt64(number), network: .production,
      address: .post(PostAddress(receiver: name, rule: rule)),
      headers: PushHeaders(
        id: PushID(of: "post", "\(number)"), topic: "", pushType: .background,
        priority: .powerAware, expiration: .neverStore),
      payload: Array(#"{"text":"Grüße \#(number)"}"#.utf8))
  }

  /// Submits posts and returns their outcomes in the order of their tickets.
  private static func send(_ posts: [PushRequest], by client: PostClient) async -> [PushOutcome] {
    let (reports, continuation) = AsyncStream<PushReport>.makeStream()
    client.submit(posts) { for report in $0 { continuation.yield(report) } }
    var outcomes: [UInt64: PushOutcome] = [:]
    for await report in reports {
      outcomes[report.ticket] = report.outcome
      if outcomes.count == posts.count { break }
    }
    return outcomes.sorted { $0.key < $1.key }.map(\.value)
  }

  @Test(arguments: [secret, "\(other),\(secret)", "\(secret),\(other)"])
  func `a library of others accepts the signatures`(_ secrets: String) async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "200", secrets: secrets)
    let posts = (1...20).map { Self.post($0) }
    #expect(await Self.send(posts, by: client) == posts.map { _ in .accepted })
    let got = await server.stop()
    #expect(got.count == 20 && got.allSatisfy { $0.problem == nil })
    #expect(Set(got.map(\.id)) == Set(posts.map(\.headers.id.description)))
    #expect(got.allSatisfy { $0.type == "application/json" })
    #expect(got.contains { $0.body == #"{"text":"Grüße 7"}"# })
  }

  @Test func `a signature of another secret is not accepted by it`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "200", secrets: Self.other)
    _ = await Self.send([Self.post()], by: client)
    #expect(await server.stop().map { $0.problem == nil } == [false])
  }

  @Test func `replaced receivers sign the next posts`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "200", secrets: Self.other)
    _ = await Self.send([Self.post(1)], by: client)
    let signer = try #require(WebhookSigner(secrets: Self.secret))
    let url = "http://127.0.0.1:\(server.port)/200"
    client.use([Self.variable: try #require(PostReceiver(url: url, signer: signer))])
    _ = await Self.send([Self.post(2)], by: client)
    #expect(await server.stop().map { $0.problem == nil } == [false, true])
  }

  @Test(
    arguments: [
      ("204", 204, nil), ("400", 400, nil), ("429?retry-after=7", 429, .seconds(7)),
      ("503", 503, nil), ("302", 302, nil),
    ] as [(String, Int, Duration?)])
  func `the status counts`(_ path: String, _ status: Int, _ wait: Duration?) async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, path)
    #expect(
      await Self.send([Self.post()], by: client)
        == [PushOutcome(postStatus: status, retryAfter: wait)])
    // A redirect is not followed.
    #expect(await server.stop().count == 1)
  }

  @Test func `410 turns the posts of the rule off until a reload`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "410")
    let gone = PushOutcome(postStatus: 410, retryAfter: nil)
    #expect(await Self.send([Self.post()], by: client) == [gone])
    guard case .unsent(.receiverOff) = await Self.send([Self.post()], by: client).first else {
      Issue.record("a post was sent after 410")
      return
    }
    #expect(await Self.send([Self.post(rule: "other")], by: client) == [gone])
    client.reload()
    #expect(client.off.isEmpty)
    #expect(await Self.send([Self.post()], by: client) == [gone])
    #expect(await server.stop().count == 3)
  }

  @Test func `no answer in time, a lost connection and no server are told apart`() async throws {
    let server = try PostServer(secret: Self.secret)
    let slow = try Self.client(server.port, "hang", within: .seconds(3))
    #expect(await Self.send([Self.post()], by: slow) == [.unanswered(.timeout)])
    let cut = await Self.send([Self.post()], by: try Self.client(server.port, "cut"))
    guard case .unanswered(.connectionLost) = cut.first else {
      Issue.record("\(cut)")
      return
    }
    _ = await server.stop()
    let none = await Self.send([Self.post()], by: try Self.client(server.port, "200"))
    guard case .unsent(.noConnection) = none.first else {
      Issue.record("\(none)")
      return
    }
  }

  @Test func `a receiver that does not answer has no more than its connections`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "hang", within: .seconds(8))
    let outcomes = await Self.send((1...8).map { Self.post($0) }, by: client)
    #expect(outcomes.filter { $0 == .unanswered(.timeout) }.count == PostClient.connections)
    #expect(outcomes.filter { $0 == .unsent(.queuedTooLong) }.count == 4)
    #expect(await server.stop().count == PostClient.connections)
  }

  @Test func `what is out of time is not sent`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "200")
    var late = Self.post()
    late.validUntil = Timestamp(epochSeconds: 0)
    #expect(await Self.send([late], by: client) == [.unsent(.queuedTooLong)])
    #expect(await server.stop().isEmpty)
  }

  @Test(arguments: ["slow", "short"])
  func `an answer whose body does not end counts by its status`(_ path: String) async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, path, within: .seconds(5))
    #expect(await Self.send([Self.post()], by: client) == [.accepted])
    #expect(await server.stop().count == 1)
  }

  @Test func `close reports a post that is in flight`() async throws {
    let server = try PostServer(secret: Self.secret)
    let client = try Self.client(server.port, "hang")
    async let outcomes = Self.send([Self.post()], by: client)
    await server.gotPost()
    await client.close(within: .zero)
    #expect(await outcomes == [.unanswered(.timeout)])
    _ = await server.stop()
  }

  @Test func `after close nothing is sent`() async throws {
    let client = try Self.client(1, "200")
    await client.close(within: .seconds(1))
    #expect(await Self.send([Self.post()], by: client) == [.unsent(.closed)])
  }

  @Test(arguments: [
    ("https://example.com/hook", true), ("https://user@example.com", true),
    ("http://127.0.0.1:8080/a", true), ("http://localhost", true), ("http://[::1]:9/x", true),
    ("HTTP://LOCALHOST:1/", true), ("http://example.com", false),
    ("http://127.0.0.1@example.com", false), ("http://localhost.example.com", false),
    ("http://127.0.0.1.example.com", false), ("https://", false), ("ftp://127.0.0.1", false),
    ("file:///etc/passwd", false), ("https://a b", false), ("", false),
  ])
  func `a URL is https or of this machine`(_ url: String, _ isAllowed: Bool) {
    #expect(PostReceiver.isAllowed(url) == isAllowed)
  }
}
