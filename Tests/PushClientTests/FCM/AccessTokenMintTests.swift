import Foundation
import TestSupport
import Testing

@testable import PushClient

/// The mint with the real simulator's token endpoint.
@Suite struct AccessTokenMintTests {
  @Test func `a token is fetched before anyone asks, and FCM takes it`() async throws {
    let server = try TokenServer()
    let mint = server.mint()
    let token = try #require(try await mint.firstToken())
    #expect(try server.send(as: token) == 200)
    try await wait(until: "the token is reported") { !server.events.isEmpty }
    #expect(server.events == [.fetched(lifetime: .seconds(3599))])
    #expect(token.expiresAt - token.fetchedAt == .seconds(3599))
    #expect(mint.problem == nil && mint.failures.isEmpty)
    #expect(try #require(mint.age) < .seconds(60))
    mint.close()
  }

  @Test func `those who wait are woken after each exchange`() async throws {
    let server = try TokenServer(
      faults: #"[{"match":{"call":"token"},"action":{"answer":{"status":503}},"times":1}]"#)
    let (wakes, continuation) = AsyncStream<Void>.makeStream()
    let mint = server.mint()
    mint.whenChanged { continuation.yield(()) }
    try await wait(until: "there is a token") { mint.token() != nil }
    for await _ in wakes { break }
    #expect(mint.failures == ["HTTP 503": 1])
    #expect(mint.problem == nil)
    try await wait(until: "the token is reported") { server.events.count == 2 }
    mint.close()
  }

  @Test func `a refused token is replaced, and a storm of refusals by one exchange`() async throws {
    let server = try TokenServer()
    let mint = server.mint()
    let first = try #require(try await mint.firstToken())
    // A token that is seconds old stays.
    mint.refused(first.authorization)
    #expect(mint.token() == first)
    try server.expireTokens()
    #expect(try server.send(as: first) == 401)
    try await wait(until: "the token is old enough") {
      MonotonicTime.now() - first.fetchedAt > AccessTokenState.youth
    }
    for _ in 0..<100 { mint.refused(first.authorization) }
    #expect(mint.token() != first)
    try await wait(until: "there is another token") { mint.token() != nil }
    for _ in 0..<100 { mint.refused(first.authorization) }
    let second = try #require(mint.token())
    #expect(try server.send(as: second) == 200)
    #expect(try server.exchanges == 2)
    mint.close()
  }

  @Test func `a token is replaced before its end, and the old one is valid until then`()
    async throws
  {
    let server = try TokenServer(["--token-life", "60"])
    let mint = server.mint()
    let first = try #require(try await mint.firstToken())
    try await wait(until: "there is another token", every: .milliseconds(5)) {
      // There is a token at every time.
      let token = try #require(mint.token())
      return token != first
    }
    #expect(MonotonicTime.now() < first.expiresAt)
    mint.close()
  }

  @Test(arguments: [
    (
      #"{"client_email":"nobody@rides.iam.gserviceaccount.com"}"#,
      "invalid_grant: Invalid grant: account not found"
    ),
    (#"{"token_uri":"https://127.0.0.1:PORT/token/"}"#, "HTTP 404"),
    (
      #"{"token_uri":"https://localhost:PORT/token"}"#,
      "invalid_grant: Invalid JWT: Failed audience check."
    ),
  ])
  func `what a person has to correct is named`(changes: String, text: String) async throws {
    let server = try TokenServer()
    let json = Data(changes.replacing("PORT", with: "\(server.process.port)").utf8)
    let members = try #require(try JSONSerialization.jsonObject(with: json) as? [String: String])
    let mint = server.mint(try server.account(members))
    #expect(try await mint.firstToken() == nil)
    let problem = try #require(mint.problem)
    #expect(problem.text == text)
    #expect(problem.isOfConfiguration)
    #expect(mint.failures == [problem.word: 1])
    mint.close()
  }

  @Test func `an account whose key is another one is refused`() async throws {
    let server = try TokenServer()
    let key = try AccountKeys.shared.get().text("other.pem")
    let mint = server.mint(try server.account(["private_key": key]))
    #expect(try await mint.firstToken() == nil)
    #expect(mint.problem?.text == "invalid_grant: Invalid JWT Signature.")
    #expect(mint.problem?.status == 400)
    mint.close()
  }

  @Test(arguments: [
    (#"{"answer":{"status":400,"body":"{\"error\":\"invalid_scope\"}"}}"#, "invalid_scope", true),
    (#"{"answer":{"status":200,"body":"{\"id_token\":\"x\"}"}}"#, "no_access_token", true),
    (#"{"answer":{"status":502,"body":"<html>Bad Gateway</html>"}}"#, "HTTP 502", false),
    (#"{"close":true}"#, "no_connection", false), (#"{"stall":true}"#, "no_connection", false),
    (#"{"delay_ms":60000}"#, "no_connection", false),
  ])
  func `each failure of the endpoint is told apart`(
    action: String, word: String, isOfConfiguration: Bool
  ) async throws {
    let server = try TokenServer(
      faults: #"[{"match":{"call":"token"},"action":\#(action)}]"#)
    let mint = server.mint(timeout: .seconds(8))
    #expect(try await mint.firstToken() == nil)
    #expect(mint.problem?.word == word)
    #expect(mint.problem?.isOfConfiguration == isOfConfiguration)
    mint.close()
  }

  @Test func `an answer of megabytes is not read`() async throws {
    let large = try LargeAnswer()
    let server = try TokenServer()
    let account = try server.account(["token_uri": large.url])
    let mint = server.mint(account, trust: try Fixtures.shared.get().path("ca.pem"))
    #expect(try await mint.firstToken() == nil)
    #expect(mint.problem?.text.contains("the answer has more than 16384 bytes") == true)
    mint.close()
    large.stop()
  }

  @Test(arguments: [600, -4500])
  func `a wrong clock is learnt from Google's`(seconds: Int) async throws {
    let server = try TokenServer()
    let mint = server.mint(clockOffset: .seconds(seconds))
    try await wait(until: "there is a token") { mint.token() != nil }
    #expect(mint.failures == ["invalid_grant": 1])
    #expect(try server.exchanges == 2)
    guard case .clockSkew(let lead) = server.events.first else {
      Issue.record("\(server.events)")
      return
    }
    #expect(abs((lead + .seconds(seconds)) / .seconds(1)) < 60)
    #expect(mint.clockLead == lead)
    mint.close()
  }

  @Test func `a server that can't be verified is named`() async throws {
    let server = try TokenServer()
    let other = try Fixtures.shared.get().path("other-ca.pem")
    let mint = server.mint(trust: other)
    #expect(try await mint.firstToken() == nil)
    #expect(mint.problem?.word == "no_connection")
    #expect(mint.problem?.text.contains("certificate") == true, "\(mint.problem as Any)")
    mint.close()
    let broken = server.mint(trust: "/nowhere.pem")
    #expect(try await broken.firstToken() == nil)
    #expect(broken.problem?.text.contains("/nowhere.pem") == true)
    broken.close()
  }

  @Test func `closing ends an exchange in flight, and fetches nothing more`() async throws {
    let server = try TokenServer(
      faults: #"[{"match":{"call":"token"},"action":{"stall":true}}]"#)
    weak var released: AccessTokenMint?
    do {
      let mint = server.mint()
      try await wait(until: "an exchange is in flight") { try server.exchanges == 1 }
      released = mint
      mint.close()
    }
    try await wait(until: "the thread has ended") { released == nil }
    #expect(server.events.isEmpty)
    #expect(try server.exchanges == 1)
  }

  @Test func `no token, key or assertion is in any text`() async throws {
    let server = try TokenServer()
    let mint = server.mint()
    let token = try #require(try await mint.firstToken())
    let bare = String(decoding: token.authorization.dropFirst("Bearer ".utf8.count), as: UTF8.self)
    try server.setFaults(#"[{"match":{"call":"token"},"action":{"answer":{"status":401}}}]"#)
    let refused = server.mint()
    #expect(try await refused.firstToken() == nil)
    let requests = try server.process.records("tokens")
    var text = "\(server.events) \(refused.problem as Any) \(refused.failures) \(requests)"
    text += "\(mint.account) \(String(reflecting: mint.account))"
    for secret in [bare, "eyJ", "BEGIN PRIVATE KEY"] { #expect(!text.contains(secret)) }
    mint.close()
    refused.close()
  }
}
