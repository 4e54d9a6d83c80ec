import Testing

@testable import PushClient

@Suite struct OAuthAnswerTests {
  private func answer(_ status: Int, _ body: String) -> OAuthAnswer {
    OAuthAnswer(status: status, body: Array(body.utf8))
  }

  @Test(arguments: [
    (#"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#, 3599),
    (#"{"access_token":"ya29.x"}"#, 3600), (#"{"access_token":"ya29.x","expires_in":"9"}"#, 3600),
    (#"{"access_token":"ya29.x","expires_in":0}"#, 1),
    (#"{"access_token":"ya29.x","expires_in":-5}"#, 1),
    (#"{"access_token":"ya29.x","expires_in":9223372036854775807}"#, 86_400),
  ])
  func `a token has a life`(body: String, seconds: Int) {
    #expect(answer(200, body) == .token("ya29.x", lifetime: .seconds(seconds)))
  }

  struct Row: Sendable {
    var status: Int
    var body: String
    var word: String
    var text: String
    var isOfConfiguration: Bool
  }

  private static let rows = [
    Row(
      status: 400,
      body: #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#,
      word: "invalid_grant", text: "invalid_grant: Invalid JWT Signature.",
      isOfConfiguration: true),
    Row(
      status: 400, body: #"{"error":"invalid_scope"}"#, word: "invalid_scope",
      text: "invalid_scope", isOfConfiguration: true),
    Row(
      status: 401, body: #"{"error":"unauthorized_client","error_description":"a\nb"}"#,
      word: "unauthorized_client", text: "unauthorized_client: a b", isOfConfiguration: true),
    Row(
      status: 400, body: #"{"error":"A word\u0000 that is none"}"#, word: "HTTP 400",
      text: "A word  that is none", isOfConfiguration: true),
    Row(
      status: 404, body: "<html>Not Found</html>", word: "HTTP 404", text: "HTTP 404",
      isOfConfiguration: true),
    Row(status: 408, body: "", word: "HTTP 408", text: "HTTP 408", isOfConfiguration: false),
    Row(status: 429, body: "{}", word: "HTTP 429", text: "HTTP 429", isOfConfiguration: false),
    Row(
      status: 503, body: #"{"error":{"code":503}}"#, word: "HTTP 503", text: "HTTP 503",
      isOfConfiguration: false),
    Row(
      status: 200, body: #"{"id_token":"secret.of.google"}"#, word: "no_access_token",
      text: "HTTP 200 with an ID token only", isOfConfiguration: true),
    Row(
      status: 200, body: "<html>", word: "no_access_token", text: "HTTP 200 with no access token",
      isOfConfiguration: true),
    Row(
      status: 200, body: #"{"access_token":"a\r\nx: y"}"#, word: "no_access_token",
      text: "HTTP 200 with a token that no header can have", isOfConfiguration: true),
    Row(
      status: 200, body: #"{"access_token":""}"#, word: "no_access_token",
      text: "HTTP 200 with a token that no header can have", isOfConfiguration: true),
    Row(
      status: 302, body: "", word: "HTTP 302", text: "HTTP 302", isOfConfiguration: false),
  ]

  @Test(arguments: rows)
  func `any other answer is a problem`(row: Row) {
    guard case .problem(let problem) = answer(row.status, row.body) else {
      Issue.record("a token of \(row.body)")
      return
    }
    #expect(problem.word == row.word)
    #expect(problem.text == row.text)
    #expect(problem.status == row.status)
    #expect(problem.isOfConfiguration == row.isOfConfiguration)
  }

  @Test func `a long text of the server is cut`() {
    let long = String(repeating: "é", count: 5000)
    guard
      case .problem(let problem) = answer(
        400, #"{"error":"invalid_grant","error_description":"\#(long)"}"#)
    else {
      Issue.record("a token")
      return
    }
    #expect(problem.text.utf8.count <= 220)
  }

  @Test func `a body that nests deeply is a problem`() {
    let deep = String(repeating: "[", count: 100_000)
    guard case .problem = answer(200, deep) else {
      Issue.record("a token")
      return
    }
  }
}
