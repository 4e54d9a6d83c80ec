import Base
import Foundation
import TestSupport
import Testing

@testable import PushClient

/// The probe with the real simulator.
@Suite struct FCMProbeTests {
  private func probe(
    _ server: TokenServer, _ account: ServiceAccount? = nil, url: String? = nil,
    trust: String? = nil, clockOffset: Duration = .zero
  ) async throws -> FCMProbeResult {
    await FCMProbe.run(
      account: account ?? server.account, endpoint: try APNsEndpoint(url ?? server.url),
      trust: trust ?? server.process.authorityPath, now: { TokenServer.clock + clockOffset })
  }

  @Test func `an account that may send is found so, and nothing is delivered`() async throws {
    let server = try TokenServer(["--strict", "all"])
    let result = try await probe(server)
    #expect(result.finding == .maySend)
    #expect(try #require(result.tokenTime) < .seconds(60))
    #expect(abs(try #require(result.clockLead) / .seconds(1)) < 60)
    #expect(try server.process.records("deliveries").isEmpty)
  }

  @Test func `a wrong clock is measured and does not stop it`() async throws {
    let server = try TokenServer()
    let result = try await probe(server, clockOffset: .seconds(900))
    #expect(result.finding == .maySend)
    #expect(abs(try #require(result.clockLead) / .seconds(1) + 900) < 60)
  }

  @Test func `what is wrong has Google's words`() async throws {
    let server = try TokenServer(["--project", "rides", "--project", "meals"])
    let stranger = try server.account(["client_email": "x@rides.iam.gserviceaccount.com"])
    guard case .noToken(let problem) = try await probe(server, stranger).finding else {
      Issue.record("a stranger got a token")
      return
    }
    #expect(problem.text == "invalid_grant: Invalid grant: account not found")
    let result = try await probe(server, try server.account(["project_id": "meals"]))
    guard case .refused("PERMISSION_DENIED", let text) = result.finding else {
      Issue.record("\(result)")
      return
    }
    #expect(text.hasPrefix("Permission 'cloudmessaging.messages.create' denied"))
    #expect(result.tokenTime != nil)
    #expect(
      try await probe(server, try server.account(["project_id": "trains"])).finding
        == .refused(word: "NOT_FOUND", text: "Requested entity was not found."))
  }

  @Test func `a server that can't be reached or verified is named`() async throws {
    let server = try TokenServer()
    guard
      case .unreachable(let failure) = try await probe(server, url: "https://127.0.0.1:1").finding
    else {
      Issue.record("port 1 answered")
      return
    }
    #expect(failure.kind == .unreachable)
    let other = try Fixtures.shared.get().path("other-ca.pem")
    guard case .noToken(let problem) = try await probe(server, trust: other).finding else {
      Issue.record("an unknown authority was trusted")
      return
    }
    #expect(problem.word == "no_connection")
    #expect(problem.connectivity == .untrusted)
  }

  private static let disabled = """
    {"error":{"code":403,"message":"Firebase Cloud Messaging API has not been used","status":\
    "PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":\
    "SERVICE_DISABLED","domain":"googleapis.com"}]}}
    """
  private static let malformed =
    #"{"error":{"code":400,"message":"Invalid JSON payload\n","status":"INVALID_ARGUMENT"}}"#

  @Test(arguments: [
    (403, disabled, "SERVICE_DISABLED", "Firebase Cloud Messaging API has not been used"),
    (400, malformed, "INVALID_ARGUMENT", "Invalid JSON payload "),
    (502, "<html>Bad Gateway</html>", "HTTP 502", ""), (404, "", "HTTP 404", ""),
    (503, #"{"error":"x"}"#, "HTTP 503", ""),
  ])
  func `an answer from before FCM is a refusal`(
    status: Int, body: String, word: String, text: String
  ) {
    #expect(FCMProbe.finding(status, Array(body.utf8)) == .refused(word: word, text: text))
  }
}
