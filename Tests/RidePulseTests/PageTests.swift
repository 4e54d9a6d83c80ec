import AdminServer
import Base
import Foundation
import Glibc
import LocalStack
import Page
import RideCore
import Testing
import TestSupport

/// Tests of the page by a client without a browser; `BrowserTests` covers the rendered page.
@Suite(.timeLimit(.minutes(60))) struct PageTests {
  private func serving(
    _ stage: Stage, _ more: [String: String] = [:], _ body: (Server, String) async throws -> Void
  ) async throws {
    let own = ["RIDEPULSE_ADMIN": "127.0.0.1:0"].merging(more) { $1 }
    let server = try Server(stage.environment.merging(own) { $1 })
    defer { server.stop() }
    try await server.waitForLog("Admin server")
    try await body(server, "http://127.0.0.1:\(server.field("port") ?? "")")
  }

  private func curl(_ words: String...) throws -> String {
    try Command.run("/usr/bin/curl", ["--silent", "--max-time", "60"] + words).output
  }

  /// Starts a `curl` that reads a stream until it is ended.
  private func listener(_ url: String, into file: String, _ words: String...) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
    process.arguments = ["--silent", "--no-buffer", "--output", file] + words + [url]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Kills a process: the threads that start one here block SIGTERM, and it inherits that.
  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private func messages(_ file: String) -> [JSONValue] {
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "\n\n").filter { $0.hasPrefix("data: ") }
      .compactMap { JSONValue(json: $0.dropFirst(6).utf8) }
  }

  /// Waits until a stream contains a message.
  private func until(
    _ file: String, _ what: String, _ isThere: ([JSONValue]) -> Bool
  ) async throws {
    try await wait(until: "the stream has \(what): \(messages(file).suffix(3))") {
      isThere(messages(file))
    }
  }

  @Test func `Each file has its type and a policy that forbids other origins`()
    async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        for (path, type) in [
          ("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript"),
          ("/icon.svg", "image/svg+xml"),
        ] {
          let answer = try curl("--include", url + path)
          #expect(answer.hasPrefix("HTTP/1.1 200"))
          for line in [
            "Content-Type: \(type)", "default-src 'self'", "frame-ancestors 'none'",
            "X-Frame-Options: DENY", "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff",
          ] {
            #expect(answer.contains(line), "\(path) without \(line)")
          }
        }
        let page = try curl(url + "/")
        #expect(page.contains("<title>RidePulse</title>"))
      }
    }
  }

  @Test func `No file names another address, builds markup from texts, or has an inline script`()
    throws
  {
    let files = PageFile.all
    #expect(files.count > 10)
    for file in files {
      let text = String(decoding: file.bytes, as: UTF8.self)
      let addresses = text.matches(of: /https?:\/\/[^"' ]+/).map { String($0.output) }
      #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(addresses)")
      for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
        #expect(!text.contains(word), "\(file.name) has \(word)")
      }
      #expect(text.firstMatch(of: /<script>|<style|\son\w+=|\sstyle=/) == nil, "\(file.name)")
    }
  }

  @Test func `A foreign Host is refused, so that no other site's page can read rides`() async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        for (host, status) in [("evil.example", "421"), ("localhost", "200")] {
          let answer = try curl("--write-out", "%{http_code}", "--header", "Host: \(host)", url)
          #expect(answer.hasSuffix(status))
        }
      }
    }
  }

  @Test func `A ride's history needs the token if there is one`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try await serving(stage, ["RIDEPULSE_ADMIN_TOKEN": "sesame-44"]) { _, url in
        let report = url + "/ride?id=r1"
        #expect(try curl("--write-out", "%{http_code}", report).hasSuffix("401"))
        let allowed = try curl(
          "--write-out", "%{http_code}", "--header", "Authorization: Bearer sesame-44", report)
        #expect(allowed.hasSuffix("200"))
      }
    }
  }

  @Test func `The stream reports live rides each second, without a token`() async throws {
    try await Stage.run { stage in
      try await serving(stage, ["RIDEPULSE_ADMIN_TOKEN": "sesame-44"]) { _, url in
        let file = stage.directory + "/live.txt"
        let curl = try listener(url + "/live", into: file)
        defer { end(curl) }
        try await until(file, "answer of the database") {
          $0.last?.value(at: ["database"]) == .bool(true)
        }
        try await stage.addRide(state: "driver_arrived")
        try await stage.settled()
        try await until(file, "accepted push and its ride") { messages in
          guard let last = messages.last, case .array(let pushes) = last.value(at: ["pushes"]),
            case .array(let states) = last.value(at: ["rides", "states"])
          else { return false }
          return pushes.contains { $0.value(at: ["type"]) == .string("alert") }
            && states.contains(
              .object(["state": .string("driver_arrived"), "n": .integer(1)]))
        }
        let last = try #require(messages(file).last)
        #expect(last.value(at: ["ready"]) == .bool(true))
        #expect(last.value(at: ["rides", "live"]) == .integer(1))
        #expect(last.value(at: ["verdicts"]) != .array([]))
        #expect(last.value(at: ["lanes"]) != .array([]))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("retry: 2000\n\ndata: {"))
      }
    }
  }

  @Test func `Without listeners there is no query, and two listeners share one`()
    async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        let asked =
          "select count(*) from pg_stat_activity where application_name = 'ridepulse shared' "
          + "and datname = current_database()"
        let files = ["/one.txt", "/two.txt"].map { stage.directory + $0 }
        let curls = try files.map { try listener(url + "/live", into: $0) }
        for file in files { try await until(file, "four messages") { $0.count >= 4 } }
        // At the start, a periodic task may have had another one for a moment.
        try await stage.until(asked, is: "1")
        let before = messages(files[0])
        for curl in curls { end(curl) }
        #expect(before.count >= 4)
        // Without a listener there are no queries but those of periodic tasks: for three seconds none
        // begins. The page asks each second.
        let last =
          "select max(query_start) from pg_stat_activity where application_name = 'ridepulse shared' "
          + "and datname = current_database()"
        var (known, quiet) = ("", 0)
        try await wait(until: "three seconds without a query", every: .milliseconds(100)) {
          let now = try await stage.value(last) ?? ""
          quiet = now == known ? quiet + 1 : 0
          known = now
          return quiet == 30
        }
      }
    }
  }

  @Test func `The seventeenth listener gets Retry-After, and a closed connection frees its place`()
    async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { _, url in
        var curls: [Process] = []
        for number in 0..<16 {
          let file = stage.directory + "/\(number).txt"
          curls.append(try listener(url + "/live", into: file))
          try await until(file, "first message") { !$0.isEmpty }
        }
        #expect(try curl("--write-out", "%{http_code}", url + "/live").hasSuffix("503"))
        #expect(try curl(url + "/healthz") == "ok\n")
        for curl in curls { end(curl) }
        let file = stage.directory + "/late.txt"
        let late = try listener(
          url + "/live", into: file, "--fail", "--retry", "60", "--retry-delay", "1")
        defer { end(late) }
        try await until(file, "message after a retry") { !$0.isEmpty }
      }
    }
  }

  @Test func `SIGTERM does not wait for clients that listen, read nothing, or are stopped`()
    async throws
  {
    try await Stage.run { stage in
      try await serving(stage) { server, url in
        let file = stage.directory + "/live.txt"
        let listening = try listener(url + "/live", into: file)
        let slow = try listener(
          url + "/live", into: stage.directory + "/slow.txt", "--limit-rate", "1")
        let port = server.field("port") ?? ""
        let silent = Process()
        silent.executableURL = URL(fileURLWithPath: "/bin/bash")
        let words =
          #"exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3; read -r <&0"#
        silent.arguments = ["-c", words, port]
        silent.standardInput = Pipe()
        try silent.run()
        try await until(file, "two messages") { $0.count >= 2 }
        #expect(server.stop() == 0)
        listening.waitUntilExit()
        // 18: the socket was closed before the last, empty chunk; browsers treat both the same.
        #expect([0, 18].contains(listening.terminationStatus))
        #expect(server.log.contains("Stopped"))
        for process in [slow, silent] { end(process) }
      }
    }
  }

  @Test func `The next hour is computed from current rides, and a ride's history found by ID`()
    async throws
  {
    try await Stage.run { stage in
      let rules = """
        rules:
          - name: look
            app: customer
            every: 5m
            while: [driver_en_route]
            alert: { title: On the way }
            expires: 5m

        """
      let environment = try stage.environment(rules: rules)
      try await serving(stage, ["RIDEPULSE_SCHEDULES": environment["RIDEPULSE_SCHEDULES"] ?? ""]) {
        _, url in
        let strange = #"<img src=x onerror="alert(1)">/&?"#
        try await stage.addRide(strange.replacing("'", with: "''"), state: "driver_en_route")
        try await stage.settled()
        let hour = try #require(JSONValue(json: try curl(url + "/timeline").utf8))
        guard case .array(let next) = hour.value(at: ["next"]) else {
          throw TestFailure("no list in \(hour)")
        }
        #expect((11...12).contains(next.count), "\(next.count)")
        #expect(next.first?.value(at: ["ride"]) == .string(strange))
        #expect(next.first?.value(at: ["type"]) == .string("alert"))
        #expect(hour.value(at: ["rides_cut"]) == .bool(false))
        let report = try curl("--get", "--data-urlencode", "id=\(strange)", url + "/ride")
        #expect(JSONValue(json: report.utf8)?.value(at: ["ride", "id"]) == .string(strange))
        #expect(try curl("--write-out", "%{http_code}", url + "/ride?id=none").hasSuffix("404"))
        #expect(try curl("--write-out", "%{http_code}", url + "/ride").hasSuffix("400"))
      }
    }
  }

  @Test func `R95: the types that cards were sent, and start tokens that start nothing`()
    async throws
  {
    try await Stage.run { stage in
      let rules = """
        rules:
          - name: card
            app: customer
            live-activity:
              attributes-type: RideAttributes
              content-state: { eta: { value: "{{ride.attributes.eta}}", type: int } }
              stale-after: 5m
              min-interval: 1s
            expires: 5m

        """
      let environment = try stage.environment(rules: rules)
      try await stage.sql(
        """
        insert into ridepulse.card_type_hours (attributes_type, field, json_type, count, last_at)
        values ('RideAttributes', 'content-state.eta', 'int', 5, '2026-11-22T08:00:00Z'),
          ('RideAttributes', 'content-state.eta', 'string', 1, '2026-11-22T08:00:00Z'),
          ('Old', 'content-state.x', 'bool', 2, '2026-11-22T08:00:00Z');
        select ridepulse.register_push_to_start('customer', 'c1', 'a1', 'RideAttribute')
        """)
      try await serving(stage, ["RIDEPULSE_SCHEDULES": environment["RIDEPULSE_SCHEDULES"] ?? ""]) {
        _, url in
        let answer = try curl(url + "/cards")
        #expect(
          answer == #"{"cards":[{"attributes_type":"Old","fields":[{"field":"content-state.x","#
            + #""sent":[{"fault":null,"last_at":"2026-11-22T08:00:00Z","pushes":2,"type":"bool"}]}],"#
            + #""has_rule":false},{"attributes_type":"RideAttributes","fields":["#
            + #"{"field":"content-state.eta","sent":[{"fault":null,"#
            + #""last_at":"2026-11-22T08:00:00Z","pushes":5,"type":"int"},"#
            + #"{"fault":"the rule's type is int","last_at":"2026-11-22T08:00:00Z","pushes":1,"#
            + #""type":"string"}]}],"has_rule":true}],"#
            + #""start_tokens":[{"app":"customer","attributes_type":"RideAttribute","#
            + #""nearest":"RideAttributes","tokens":"1 token"}]}"#)
      }
    }
  }
}
