import Foundation
import Synchronization
import Testing

@testable import RidePulseKit

/// A backend whose answers a test commands.
final class TestBackend: CallTransport {
  struct State {
    var requests: [CallRequest] = []
    var answer: @Sendable (CallRequest) throws -> CallAnswer = { _ in CallAnswer(status: 200) }
  }

  private let state = Mutex(State())

  var requests: [CallRequest] { state.withLock { $0.requests } }
  var lines: [String] { requests.map { "\($0.method) \($0.url.path)" } }

  func answers(_ answer: @escaping @Sendable (CallRequest) throws -> CallAnswer) {
    state.withLock { $0.answer = answer }
  }

  func send(_ request: CallRequest) async throws -> CallAnswer {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answer
    }
    return try answer(request)
  }
}

/// The client with its disk: each test has a folder of its own, and restarts as iOS does.
@Suite final class RidePulseClientTests {
  private let backend = TestBackend()
  private let events = Events()
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ridepulse-kit-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  final class Events: Sendable {
    private let list = Mutex<[KitEvent]>([])

    var all: [KitEvent] { list.withLock { $0 } }

    func add(_ event: KitEvent) { list.withLock { $0.append(event) } }
  }

  private func configuration(
    _ authorization: @escaping KitConfiguration.Authorization = {
      ["Authorization": "Bearer \($0)"]
    }
  ) throws -> KitConfiguration {
    KitConfiguration(
      app: "customer", backend: "https://example.com/push",
      folder: folder, installation: "i1", environment: .production, authorization: authorization,
      onEvent: { [events] in events.add($0) })
  }

  private func client(
    _ authorization: @escaping KitConfiguration.Authorization = {
      ["Authorization": "Bearer \($0)"]
    }
  ) throws -> RidePulseClient {
    // A pause never ends by itself: a restart or `hurry` does what time would.
    RidePulseClient(
      try configuration(authorization), transport: backend,
      surroundings: Surroundings(
        jitter: { 0 },
        sleep: { _ in for await _ in AsyncStream.makeStream(of: Never.self).stream {} }))
  }

  private static let lost: @Sendable (CallRequest) throws -> CallAnswer = { _ in
    throw URLError(.notConnectedToInternet)
  }

  @Test func `Tokens are sent with headers of the session and a key`() async throws {
    let client = try client()
    await client.signIn("anna")
    await client.phone(token: Data([1, 2]), alerts: true, locale: "de", timeZone: "Europe/Berlin")
    await client.flush(within: .seconds(20))
    let request = try #require(backend.requests.first)
    #expect(request.url.absoluteString == "https://example.com/push/v1/devices")
    #expect(request.headers["Authorization"] == "Bearer anna")
    #expect(request.headers["Content-Type"] == "application/json")
    #expect(request.headers["Idempotency-Key"]?.hasSuffix("-1") == true)
    let body = String(decoding: request.body ?? Data(), as: UTF8.self)
    #expect(body.contains(#""token":"0102""#) && body.contains(#""alerts":true"#))
  }

  @Test func `What had no network is sent by the next process, with its first key`() async throws {
    backend.answers(Self.lost)
    let first = try client()
    await first.signIn("anna")
    await first.card("A1", ride: "r1", token: Data([1]), isFrequent: true)
    await first.flush(within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 200) }
    let second = try client()
    await second.signIn("anna")
    await second.hurry()
    await second.flush(within: .seconds(20))
    #expect(Set(backend.lines) == ["POST /push/v1/live-activities"])
    #expect(Set(backend.requests.compactMap { $0.headers["Idempotency-Key"] }).count == 1)
  }

  @Test func `What is sent is stored before, so that a sign-out withdraws it`() async throws {
    backend.answers { [folder] _ in
      let file = folder.appendingPathComponent("queue.json")
      let text = try String(contentsOf: file, encoding: .utf8)
      return CallAnswer(status: text.contains(#""tokens":["01"]"#) ? 200 : 422)
    }
    let client = try client()
    await client.signIn("anna")
    await client.phone(token: Data([1]))
    await client.flush(within: .seconds(20))
    #expect(events.all == [])
  }

  @Test func `A sign-out without a network is sent later, with the headers of its session`()
    async throws
  {
    let first = try client()
    await first.signIn("anna")
    await first.phone(token: Data([1]))
    await first.flush(within: .seconds(20))
    backend.answers(Self.lost)
    await first.signOut()
    await first.flush(within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 200) }
    // The session is over: the app has no headers any more.
    let second = try client { _ in nil }
    await second.hurry()
    await second.flush(within: .seconds(20))
    let last = try #require(backend.requests.last)
    #expect("\(last.method) \(last.url.path)" == "DELETE /push/v1/devices/customer/01")
    #expect(last.headers["Authorization"] == "Bearer anna")
    let stored = try String(
      contentsOf: folder.appendingPathComponent("queue.json"), encoding: .utf8)
    #expect(!stored.contains("Bearer"))
  }

  @Test func `A person whose session has no headers yet holds no sign-out back`() async throws {
    let client = try client { $0 == "ben" ? nil : ["Authorization": "Bearer \($0)"] }
    await client.signIn("anna")
    await client.phone(token: Data([1]))
    await client.flush(within: .seconds(20))
    backend.answers(Self.lost)
    await client.signOut()
    await client.flush(within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 200) }
    await client.signIn("ben")
    await client.phone(token: Data([1]))
    await client.flush(within: .seconds(20))
    let before = backend.lines.count
    await client.hurry()
    await client.flush(within: .seconds(20))
    #expect(backend.lines.dropFirst(before) == ["DELETE /push/v1/devices/customer/01"])
  }

  @Test func `A broken file is moved aside and reported, and the next sign-in registers again`()
    async throws
  {
    for text in ["", "{", #"{"version":7,"lastSession":0,"calls":[]}"#, "[]"] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: folder.appendingPathComponent("queue.json"))
      let client = try client()
      await client.signIn("anna")
      await client.phone(token: Data([1]))
      await client.flush(within: .seconds(20))
      let aside = folder.appendingPathComponent("queue.broken.json")
      #expect(try Data(contentsOf: aside) == Data(text.utf8))
      #expect(events.all.contains(.brokenFile(aside.path)))
    }
    #expect(backend.lines.count == 4)
  }

  @Test func `A folder that can't be written is reported, and the call is sent all the same`()
    async throws
  {
    try Data().write(to: folder)
    let client = try client()
    await client.signIn("anna")
    await client.phone(token: Data([1]))
    await client.flush(within: .seconds(20))
    #expect(backend.lines == ["POST /push/v1/devices"])
    #expect(
      events.all.contains { if case .notSaved = $0 { true } else { false } })
  }

  @Test
  func
    `A receipt of the service extension is sent by it, or else by the app, and of the same person`()
    async throws
  {
    let id = "3c73e4aa-6652-4016-b15c-6e64ca4ee44d"
    let app = try client()
    await app.signIn("anna")
    let reporter = ReceiptReporter(try configuration(), transport: backend)
    await reporter.report(id, within: .seconds(20))
    #expect(backend.lines == ["POST /push/v1/seen"])
    backend.answers(Self.lost)
    await reporter.report(id, within: .seconds(20))
    await reporter.report("not a UUID", within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 204) }
    await app.hurry()
    await app.flush(within: .seconds(20))
    #expect(backend.lines.count == 4)
    #expect(backend.requests.last?.body == Data(#"{"apns_id":"\#(id)"}"#.utf8))
    // Of a person who is gone it is not.
    backend.answers(Self.lost)
    await reporter.report(id, within: .seconds(20))
    backend.answers { _ in CallAnswer(status: 204) }
    await app.signIn("ben")
    await app.flush(within: .seconds(20))
    #expect(backend.lines.count == 5)
    #expect(events.all.contains(.dropped("seen \(id)", "signed out")))
    #expect(ReceiptFolder(folder: folder).all().isEmpty)
  }

  @Test func `Controls that are gone are withdrawn, and the others stay`() async throws {
    let client = try client()
    await client.signIn("anna")
    await client.controls(tokens: [Data([1]), Data([2])], of: "customer_controls")
    await client.flush(within: .seconds(20))
    await client.controls(tokens: [Data([2])], of: "customer_controls")
    await client.flush(within: .seconds(20))
    #expect(backend.lines.contains("DELETE /push/v1/devices/customer_controls/01"))
    #expect(!backend.lines.contains("DELETE /push/v1/devices/customer_controls/02"))
  }
}
