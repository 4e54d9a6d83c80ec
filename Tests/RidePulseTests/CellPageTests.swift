import Base
import Foundation
import LocalStack
import TestSupport
import Testing

/// Tests of the page of one of several cells by a client without a browser; `BrowserTests` covers the
/// rendered page.
@Suite("Cells: the page", .timeLimit(.minutes(60))) struct CellPageTests {
  /// With pushes in the next hour.
  static let rules =
    CellRuleTests.rules("Here")
    + "  - { name: look, app: customer, every: 5m, while: [driver_en_route], alert: { title: Look }, "
    + "expires: 5m }\n"

  @Test func `what the page loads is found from the address of a cell, and below it`() async throws
  {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment)
      let page = try client.get("/cells/wien/")
      #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
      let links = page.text.matches(of: /(?:href|src)="([^"]*)"/).map { String($0.output.1) }
      let files = links.filter { $0.hasPrefix("/") }
      #expect(Set(links.filter { !$0.hasPrefix("#") }) == Set(files) && files.count > 4, "\(links)")
      for file in files { #expect(try client.get(file).status == 200, "\(file)") }
      // A script's own address begins with a slash for no call: it would leave the cell.
      var calls: Set<Substring> = []
      for name in try scripts(from: "page.js", client) {
        let script = try client.get("/" + name).text
        for match in script.matches(of: /(?:fetch\(|EventSource\(|address: )[`'"]([^`'"]*)[`'"]/) {
          calls.insert(match.output.1)
        }
      }
      #expect(
        calls == [
          "live", "timeline", "cards", "ride?id=", "v1/explain?owner_id=", "v1/explain?apns_id=",
          "v1/explain?token=",
        ])
      for call in calls where call != "live" {
        let path = "/cells/wien/" + call.prefix { $0 != "?" }
        // 400 and 422: the ID is missing; at the root, the call is refused or there is none.
        let answer = try client.get(path)
        #expect(
          [200, 400, 422].contains(answer.status) && answer.code != "cell_missing", "\(answer)")
      }
      for path in ["/live", "/timeline", "/cards", "/ride", "/cells/paris/", "/cells/paris/live"] {
        #expect(try client.get(path).status == 404, "\(path)")
      }
      #expect(server.stop() == 0)
    }
  }

  /// Returns the names of a script and of all that it imports.
  private func scripts(from name: String, _ client: APIClient) throws -> Set<String> {
    var found: Set<String> = []
    var next = [name]
    while let name = next.popLast() {
      guard found.insert(name).inserted else { continue }
      next += try client.get("/" + name).text.matches(of: /from '\.\/([^']+)'/)
        .map { String($0.output.1) }
    }
    return found
  }

  @Test func `the page of a cell shows its rides, phones and pushes, and no other's`() async throws
  {
    try await CellStage.run { cells in
      let (server, client) = try await APIClient.serve(cells.environment(rules: Self.rules))
      try await server.waitForLog(" Serving", times: 2)
      for (session, ride) in cells.both { try await cells.addRide(ride, to: session) }
      _ = try await cells.titles()
      try await cells.addRide("b2", to: cells.berlin)
      for (cell, own, other, live) in [("berlin", "b1", "w1", 2), ("wien", "w1", "b1", 1)] {
        let url = "/cells/\(cell)"
        let history = try client.get("\(url)/ride?id=\(own)")
        #expect(history.string("ride", "id") == own, "\(history)")
        #expect(try client.get("\(url)/ride?id=\(other)").status == 404)
        let phones = try client.get("\(url)/v1/explain?owner_id=c-\(own)")
        #expect(phones.status == 200 && phones.text.contains("c-\(own)"), "\(phones)")
        let absent = try client.get("\(url)/v1/explain?owner_id=c-\(other)")
        #expect(absent.status == 404 && absent.code == "not_recorded", "\(absent)")
        let stranger = APIClient(url: client.url, token: nil)
        #expect(try stranger.get("\(url)/ride?id=\(own)").status == 401)

        // The next hour is computed once in 15 s: only after all rides are on the agenda.
        try await wait(until: "the stream of \(cell) has its rides") {
          let messages = try stream(client, url)
          return messages.last?.value(at: ["rides", "live"]) == .integer(Int64(live))
            && messages.allSatisfy { $0.value(at: ["cell"]) == .string(cell) }
            && messages.last?.value(at: ["ready"]) == .bool(true)
        }
        let next = try client.get("\(url)/timeline").body?.value(at: ["next"])?.elements ?? []
        let rides = Set(next.compactMap { $0.value(at: ["ride"])?.texts.first })
        #expect(rides == (cell == "berlin" ? ["b1", "b2"] : ["w1"]), "\(next)")
      }
      #expect(server.stop() == 0)
    }
  }

  /// Returns the messages of the first seconds of a cell's stream.
  private func stream(_ client: APIClient, _ url: String) throws -> [JSONValue] {
    let result = try Command.run(
      "/usr/bin/curl", ["--silent", "--no-buffer", "--max-time", "3", client.url + url + "/live"])
    return result.output.components(separatedBy: "\n\n").filter { $0.hasPrefix("data: ") }
      .compactMap { JSONValue(json: $0.dropFirst(6).utf8) }
  }
}
