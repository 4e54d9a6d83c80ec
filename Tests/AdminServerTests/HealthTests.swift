import Testing

@testable import AdminServer

@Suite("The health checks of the admin server") struct HealthTests {
  private static func answer(
    _ path: String, stalls: [String] = [], problems: [String] = [], notes: [String] = []
  ) async throws -> HTTPResponse {
    let routes = AdminServer.own(
      AdminQueries(
        stalls: { stalls }, problems: { problems }, notes: { notes }, wake: { "" }))
    let route = try #require(routes.first { $0.path == path })
    return await route.handler(HTTPRequest(method: "GET", path: path, headers: [:], body: []))
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var stalls: [String] = []
    var problems: [String] = []
    var notes: [String] = []
    var health: (Int, String)
    var readiness: (Int, String)
  }

  private static let cases = [
    Case(testDescription: "all is well", health: (200, "ok\n"), readiness: (200, "ready\n")),
    Case(
      testDescription: "a restart would not help", problems: ["the database does not answer"],
      health: (200, "ok\n"), readiness: (503, "the database does not answer\n")),
    Case(
      testDescription: "only a restart helps", stalls: ["claim loop stalled for 61 s"],
      problems: ["claim loop stalled for 61 s"],
      health: (500, "claim loop stalled for 61 s\n"),
      readiness: (503, "claim loop stalled for 61 s\n")),
    Case(
      testDescription: "ready with refused rules", notes: ["rules: last good, 0123"],
      health: (200, "ok\n"), readiness: (200, "ready\nrules: last good, 0123\n")),
    Case(
      testDescription: "not ready, and with refused rules", problems: ["one"],
      notes: ["rules: two"],
      health: (200, "ok\n"), readiness: (503, "one\nrules: two\n")),
    Case(
      testDescription: "two problems", problems: ["one", "two"], health: (200, "ok\n"),
      readiness: (503, "one\ntwo\n")),
  ]

  @Test(arguments: cases) func `a stall is not healthy, any problem not ready`(
    example: Case
  ) async throws {
    for (path, expected) in [("/healthz", example.health), ("/readyz", example.readiness)] {
      let answer = try await Self.answer(
        path, stalls: example.stalls, problems: example.problems, notes: example.notes)
      #expect(answer.status == expected.0)
      #expect(String(decoding: answer.body, as: UTF8.self) == expected.1)
    }
  }
}
