import Base
import Foundation
import RideCore
import Synchronization
import SystemSupport
import Testing

@testable import PushClient

/// Channel calls whose answers are late, lost or not from APNs.
@Suite struct ChannelFaultTests {
  private func requestCount(_ bench: ChannelBench) async -> Int {
    await bench.server.stop().count { $0.event == "request" }
  }

  @Test(
    "R32: a create without an answer is sent once, and its fate is called unknown",
    arguments: [#"{"close":true}"#, #"{"silent":true}"#, #"{"reset":2}"#, #"{"status":201}"#])
  func lostCreate(answer: String) async throws {
    let bench = try await ChannelBench(
      #"{"connections":[{"answers":[\#(answer)]}]}"#, timeout: .seconds(10))
    let error = try #require(await bench.create().error)
    guard case .unanswered = error else { throw error }
    #expect(error.mayHaveTakenEffect)
    #expect(await requestCount(bench) == 1)
  }

  @Test("R32: a create does not go out on a connection that curl would repeat it from")
  func staleConnection() async throws {
    let list = #"{"status":200,"body":"{\"channels\":[]}"}"#
    let bench = try await ChannelBench(
      """
      {"connections":[{"answers":[\(list),{"close":true}]},{"answers":[{"close":true}]}]}
      """)
    #expect(try await bench.client.all(in: ChannelBench.scope).isEmpty)
    let error = try #require(await bench.create().error)
    guard case .unanswered = error else { throw error }
    let posts = await bench.server.stop().filter { $0.headers?[":method"] == "POST" }
    #expect(posts.map(\.connection) == [1], "on a connection of its own, once")
  }

  @Test("What may be repeated is repeated once", arguments: [1, 2])
  func repeated(losses: Int) async throws {
    let bench = try await ChannelBench(
      """
      {"connections":[\(Array(repeating: #"{"answers":[{"close":true}]}"#, count: losses)
        .joined(separator: ",")),
      {"answers":[{"status":200,"body":"{\\"channels\\":[\\"YQ==\\"]}"}]}]}
      """)
    let all = await ChannelBench.result { () async throws(ChannelError) in
      try await bench.client.all(in: ChannelBench.scope)
    }
    #expect((all.value?.count == 1) == (losses == 1), "\(all)")
    #expect(await requestCount(bench) == 2)
  }

  @Test("A delete whose first answer was lost is done where the second finds nothing")
  func deletedTwice() async throws {
    let bench = try await ChannelBench(
      """
      {"connections":[{"answers":[{"close":true}]},
      {"answers":[{"status":404,"body":"{\\"reason\\":\\"BadPath\\"}"}]}]}
      """)
    try await bench.client.delete(try ChannelBench.id("YQ=="), in: ChannelBench.scope)
    let gone = await ChannelBench.result { () async throws(ChannelError) in
      try await bench.client.delete(ChannelID("YQ==").orFail(), in: ChannelBench.scope)
    }
    #expect(gone.error == .refused(ChannelRefusal(status: 404, reason: "BadPath")))
    #expect(await requestCount(bench) == 3)
  }

  @Test("ExpiredProviderToken costs a read one more try, on another connection")
  func expiredToken() async throws {
    let bench = try await ChannelBench(
      """
      {"connections":[{"answers":[{"status":403,"body":"{\\"reason\\":\\"ExpiredProviderToken\\"}"}]},
      {"answers":[{"status":200,"body":"{\\"channels\\":[]}"}]}]}
      """)
    #expect(try await bench.client.all(in: ChannelBench.scope).isEmpty)
    let requests = await bench.server.stop().filter { $0.event == "request" }
    #expect(requests.map(\.connection) == [0, 1])
    #expect(Set(requests.compactMap { $0.headers?["authorization"] }).count == 2)
  }

  /// How far the clock of one test has advanced.
  private final class Age: Sendable {
    let seconds = Atomic<Int64>(0)
  }

  @Test("No connection sees a second provider token")
  func newToken() async throws {
    let age = Age()
    let bench = try await ChannelBench(
      #"{"connections":[{"answers":[{"status":200,"body":"{\"channels\":[]}"}]}]}"#,
      clock: { Timestamp(epochSeconds: 1_790_000_000 + age.seconds.load(ordering: .relaxed)) })
    for seconds in [0, 60, 2400] as [Int64] {
      age.seconds.store(seconds, ordering: .relaxed)
      _ = try await bench.client.all(in: ChannelBench.scope)
    }
    let requests = await bench.server.stop().filter { $0.event == "request" }
    #expect(requests.map(\.connection) == [0, 0, 1])
    let tokens = requests.compactMap { $0.headers?["authorization"] }
    #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
  }

  @Test("R31: nothing is sent to a server that does not agree to HTTP/2")
  func noHTTP2() async throws {
    let bench = try await ChannelBench(#"{"alpn": false, "connections": [{}]}"#)
    let error = try #require(await bench.create().error)
    guard case .unreachable(let text) = error else { throw error }
    #expect(text.contains("did not agree to HTTP/2"), "\(text)")
    #expect(!error.mayHaveTakenEffect)
    #expect(await requestCount(bench) == 0)
  }

  @Test("Nobody listens, or nobody vouches: the channel was not made, and why is said")
  func unreachable() async throws {
    let bench = try await ChannelBench(answers: #"{"status":201}"#)
    let fixtures = try Fixtures.shared.get()
    let key = try SigningKey(
      path: fixtures.path("key.p8"), keyID: "ABCDE12345", teamID: "TEAM123456")
    let cases = [
      ("https://127.0.0.1:1", "ca.pem", "connect"),
      (bench.server.url, "other-ca.pem", "certificate"),
      (bench.server.url, "nowhere.pem", "nowhere.pem"),
    ]
    for (url, ca, word) in cases {
      var configuration = try APNsConfiguration(caFile: fixtures.path(ca))
      configuration.productionChannels = try APNsEndpoint(url)
      let client = ChannelClient(
        configuration: configuration, credentials: Credentials(key: key), now: Self.now)
      let result = await ChannelBench.result { () async throws(ChannelError) in
        try await client.create(ChannelBench.newChannel(.nothing))
      }
      guard case .failure(.unreachable(let text)) = result else {
        Issue.record("\(result)")
        continue
      }
      #expect(text.lowercased().contains(word), "\(text)")
    }
    #expect(await requestCount(bench) == 0)
  }

  private static let now: @Sendable () -> Timestamp = {
    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }

  @Test("A bundle ID that is none never leaves", arguments: ["", "a/b", "a b", "a\r\nb", "a?b"])
  func badBundle(bundle: String) async throws {
    let bench = try await ChannelBench(answers: #"{"status":201}"#)
    let result = await ChannelBench.result { () async throws(ChannelError) in
      try await bench.client.all(in: ChannelScope(bundleID: bundle, environment: .production))
    }
    guard case .failure(.unreachable) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(await requestCount(bench) == 0)
  }

  @Test("Calls wait for each other, and one that has no time left then is not sent")
  func oneAfterAnother() async throws {
    let bench = try await ChannelBench(#"{"connections":[{"answers":[{"silent":true}]}]}"#)
    let deadline = MonotonicTime.now() + .milliseconds(1500)
    let request = ChannelRequest(
      method: "POST", path: "/1/apps/com.example.customer/channels",
      requestID: ChannelBench.request.description, isRepeatable: false)
    let sender = bench.sender
    let failures = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await withCheckedContinuation { done in
            let thread = WorkerThread {
              let result = sender.answer(request, by: deadline)
              done.resume(returning: (try? result.get()) == nil)
            }
            thread?.detach()
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(failures == [true, true, true])
    // The first call used all the time available; on a busy machine not even that one was sent.
    #expect(await requestCount(bench) <= 1)
  }

  @Test("An ID that is no base64 is none", arguments: ["", "a b", "a\n", "ü", "a,b"])
  func badID(text: String) {
    #expect(ChannelID(text) == nil)
  }
}

extension Optional where Wrapped == ChannelID {
  fileprivate func orFail() throws(ChannelError) -> ChannelID {
    guard let self else { throw .unreachable("no channel ID") }
    return self
  }
}
