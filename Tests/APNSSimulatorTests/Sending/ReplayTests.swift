import Foundation
import TestSupport
import Testing

/// Requests of Debian's curl, recorded by one simulator and sent to another one.
@Suite struct ReplayTests {
  private func replay(
    _ file: String, to simulator: RunningSimulator, _ words: [String] = []
  ) throws -> Tool {
    let common = ["--port", String(simulator.port), "--state", simulator.directory.path]
    return try Tool.run(RunningSimulator.binary.path, ["replay", file] + common + words)
  }

  private func path(_ simulator: RunningSimulator, _ name: String = "requests") -> String {
    simulator.directory.appendingPathComponent("\(name).jsonl").path
  }

  /// Sends pushes with each kind of body that a record can have.
  private func sendAll(to simulator: RunningSimulator) throws {
    let bytes = try ScratchFile(Data([0x7B, 0xFF, 0x00, 0x7D]))
    let large = try ScratchFile(Data(repeating: 0x20, count: 200_000))
    for payload in [
      "{\"aps\":\n {\"alert\":\"\u{e9}\", \"badge\": 2e0}}", "{\"aps\":", "@" + bytes.url.path,
      "@" + large.url.path, #"{"aps":{}}"#,
    ] {
      _ = try simulator.push(payload: payload)
    }
    _ = try simulator.curl(["-H", "x-ride: a", "-H", "x-ride: b"] + simulator.words())
    _ = try simulator.push(token: "abcd")
  }

  private func sendOnOneConnection(_ count: Int, to simulator: RunningSimulator) throws {
    let jwt = try JWT(issuedAt: Int(Date().timeIntervalSince1970)).signed(
      keyPath: simulator.keyPath)
    let words = try (0..<count).map { _ in try simulator.words(jwt: jwt) }
    _ = try simulator.curl(Array(words.joined(separator: ["--next"])))
  }

  @Test func `recorded requests get their answers again`() throws {
    let simulator = try RunningSimulator()
    try sendAll(to: simulator)
    let other = try RunningSimulator()
    let tool = try replay(path(simulator), to: other)
    #expect(tool.status == 0, "\(tool.output) \(tool.errors)")
    #expect(tool.output == "7 requests replayed, 0 answers differ\n")
    let (before, after) = (try simulator.records(), try other.records())
    #expect(before.count == 7)
    for name in ["status", "reason", "path", "payload_base64url"] {
      let values = [before, after].map { $0.map { "\($0[name] ?? "none")" } }
      #expect(values[0] == values[1], "\(name)")
    }
    // The large body is answered before its end, at a size that varies.
    for index in [0, 1, 2, 4, 5, 6] {
      #expect(before[index]["payload_bytes"] as? Int == after[index]["payload_bytes"] as? Int)
    }
    #expect(before[0]["payload"] as? NSObject == after[0]["payload"] as? NSObject)
    #expect(after[1]["payload_text"] as? String == "{\"aps\":")
    #expect(after[2]["payload_base64url"] as? String == "e_8AfQ")
    #expect((after[5]["headers"] as? [String: Any])?["x-ride"] as? [String] == ["a", "b"])
  }

  @Test func `answers that differ are printed, with status 1`() throws {
    let simulator = try RunningSimulator(["--lenient", "payloads"])
    _ = try simulator.push()
    _ = try simulator.push(payload: #"{"aps":{}}"#)
    let tool = try replay(path(simulator), to: try RunningSimulator())
    #expect(tool.status == 1)
    #expect(
      tool.output == """
        line 2: POST /3/device/\(RunningSimulator.token): recorded 200 dropped, now 400 \
        InvalidPushType: an alert push needs a text, a badge or a sound
        2 requests replayed, 1 answer differs

        """)
  }

  @Test func `requests share connections as they did`() throws {
    let simulator = try RunningSimulator()
    try sendOnOneConnection(2, to: simulator)
    _ = try simulator.push()
    let other = try RunningSimulator()
    #expect(try replay(path(simulator), to: other).status == 0)
    let records = try other.records()
    #expect(records.map { $0["connection"] as? Int } == [1, 1, 2])
    #expect(records.map { $0["stream"] as? Int } == [1, 3, 1])
  }

  @Test func `a request refused for its JWT is not sent`() throws {
    let simulator = try RunningSimulator()
    _ = try simulator.push(jwt: "a.b.c")
    let other = try RunningSimulator()
    let tool = try replay(path(simulator), to: other)
    #expect(tool.status == 0)
    let text = "0 requests replayed, 0 answers differ; 1 not sent, refused for the JWT then\n"
    #expect(tool.output == text)
    #expect(try other.records().isEmpty)
  }

  @Test func `a lost answer is a difference, and a new connection goes on`() throws {
    let simulator = try RunningSimulator()
    try sendOnOneConnection(3, to: simulator)
    let other = try RunningSimulator()
    try other.setFaults(
      """
      [{"action":{"reset":"INTERNAL_ERROR"},"times":1},{"action":{"close":true},"times":1}]
      """)
    let tool = try replay(path(simulator), to: other)
    #expect(tool.status == 1)
    let start = "POST /3/device/\(RunningSimulator.token): recorded 200, now no answer: "
    let lines = tool.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 3, "\(tool.output)")
    #expect(lines.first == "line 1: \(start)the stream was reset with INTERNAL_ERROR")
    // The reason depends on whether the socket was closed before or after the last write.
    #expect(lines.dropFirst().first?.hasPrefix("line 2: \(start)") == true)
    #expect(lines.last == "3 requests replayed, 2 answers differ")
  }

  @Test func `channel calls are replayed`() throws {
    let simulator = try RunningSimulator()
    let path = "https://127.0.0.1:\(simulator.port)/1/apps/com.example.customer/channels"
    let jwt = try JWT(issuedAt: Int(Date().timeIntervalSince1970)).signed(
      keyPath: simulator.keyPath)
    _ = try simulator.curl([
      "-s", "--http2", "--cacert", simulator.authorityPath, "-H", "authorization: bearer \(jwt)",
      "--data-binary", #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, path,
    ])
    let other = try RunningSimulator()
    let tool = try replay(self.path(simulator, "channels"), to: other)
    #expect(tool.status == 0, "\(tool.output) \(tool.errors)")
    #expect(try other.records("channels").first?["status"] as? Int == 201)
  }

  @Test func `a replay is never ahead of the recorded pace`() throws {
    let simulator = try RunningSimulator(["--latency", "500"])
    for _ in 0..<3 { _ = try simulator.push() }
    let other = try RunningSimulator()
    let start = Date().timeIntervalSince1970
    #expect(try replay(path(simulator), to: other, ["--speed", "1"]).status == 0)
    func times(_ simulator: RunningSimulator) throws -> [Double] {
      try simulator.records().compactMap { $0["received_at"] as? Double }
    }
    let (before, after) = (try times(simulator), try times(other))
    let recorded = before[2] - before[0]
    #expect(recorded >= 1 && after[2] - start >= recorded - 0.001, "\(recorded)")
  }

  @Test func `a file of another form sends nothing`() throws {
    let simulator = try RunningSimulator()
    let file = try ScratchFile(Data("{}\n".utf8))
    let tool = try replay(file.url.path, to: simulator)
    #expect(tool.status == 1 && tool.output == "")
    let text = "line 1.connection: found nothing, expected an integer"
    #expect(tool.errors == "apns-simulator: \(file.url.path): \(text)\n")
  }
}
