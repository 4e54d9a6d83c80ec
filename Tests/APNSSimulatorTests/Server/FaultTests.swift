import Foundation
import TestSupport
import Testing

/// Faults from a client's point of view.
@Suite struct FaultTests {
  @Test func `answer gives status, reason, timestamp and retry-after`() throws {
    let simulator = try RunningSimulator()
    let answer = #"{"status":503,"reason":"Shutdown","timestamp":5,"retry_after":7}"#
    try simulator.setFaults(#"[{"action":{"answer":\#(answer)},"times":1}]"#)
    let reply = try simulator.push()
    #expect(reply.status == 503 && reply.headers["retry-after"] == "7")
    #expect(reply.body == #"{"reason":"Shutdown","timestamp":5}"#)
    #expect(try simulator.push().status == 200, "times 1 is over")
    #expect(try simulator.records().map { $0["fault"] as? String } == ["answer", nil])
  }

  @Test func `answer may carry any body`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"answer":{"status":502,"body":"<html>"}}}]"#)
    let reply = try simulator.push()
    #expect(reply.status == 502 && reply.body == "<html>")
  }

  @Test func `a fault does not hide a mistake of the client`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"answer":{"status":503}}}]"#)
    #expect(try simulator.push(jwt: "a.b.c").status == 403)
  }

  @Test func `delay_ms delays the ordinary answer`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"delay_ms":300}}]"#)
    let format = ["-o", "/dev/null", "-w", "%{http_code} %{time_total}"]
    let output = try simulator.curl(simulator.words() + format).output
    let parts = output.split(separator: " ").suffix(2).compactMap { Double($0) }
    #expect(parts.first == 200 && parts.last ?? 0 >= 0.3)
  }

  private static let lost: [Int32] = [16, 18, 52, 55, 56]

  /// curl's exit status: 28 is a timeout, 92 a reset stream, the others a lost connection.
  @Test(arguments: [
    (#"{"stall":true}"#, [28]), (#"{"no_ping":true}"#, [28]),
    (#"{"reset":"INTERNAL_ERROR"}"#, [92]), (#"{"close":true}"#, lost),
    (#"{"delay_ms":50,"close":true}"#, lost),
  ])
  func `a push without an answer`(action: String, exits: [Int32]) throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":\#(action),"times":1}]"#)
    let tool = try simulator.curl(simulator.words() + ["--max-time", "10", "--retry", "0"])
    #expect(exits.contains(tool.status), "\(tool.errors)")
    let record = try #require(try simulator.records().first)
    #expect(record["status"] as? Int == 0 && record["fault"] != nil)
    #expect(try simulator.push().status == 200, "the next connection is not affected")
  }

  @Test(arguments: [("\"this\"", [1, 2]), ("1", [1, 2])])
  func `goaway answers what it includes, and ends the connection`(
    last: String, connections: [Int]
  ) throws {
    let simulator = try RunningSimulator()
    let setUp = #"[{"action":{"goaway":{"last_stream":\#(last)}},"times":1}]"#
    try simulator.setFaults(setUp)
    let words = try simulator.words()
    let tool = try simulator.curl(words + ["--next"] + words)
    #expect(tool.output.components(separatedBy: "HTTP/2 200").count == 3, "\(tool.errors)")
    let numbers = try simulator.records().compactMap { $0["connection"] as? Int }
    #expect(numbers[0] != numbers[1])
  }

  @Test func `goaway previous leaves the push unprocessed`() throws {
    let simulator = try RunningSimulator()
    let goAway = #"{"last_stream":"previous","reason":"Shutdown"}"#
    try simulator.setFaults(#"[{"action":{"goaway":\#(goAway)},"times":1}]"#)
    let tool = try Tool.run("/usr/bin/curl", simulator.words())
    let records = try simulator.records()
    #expect(records.first?["status"] as? Int == 0)
    // curl itself may send the push again, as RFC 9113 allows.
    #expect(tool.status != 0 || records.count == 2)
  }

  @Test func `goaway carries its reason as at Apple`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"goaway":{}},"times":1}]"#)
    let frames = try simulator.frames()
    #expect(frames.contains(#"error_code=NO_ERROR(0x00), opaque_data(21)=[{"reason":"Shutdown"}]"#))
    #expect(frames.contains(":status: 200"))
  }

  @Test func `max_streams lowers the limit`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"max_streams":7},"times":1}]"#)
    #expect(try simulator.streamLimits() == [1, 1000, 7])
  }

  @Test func `a faults file is read again when it changes`() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("faults.json")
    try Data(#"[{"action":{"answer":{"status":500}}}]"#.utf8).write(to: file)
    let simulator = try RunningSimulator(["--faults", file.path])
    #expect(try simulator.push().status == 500)
    try Data(#"[{"action":{"answer":{"status":503}}}]"#.utf8).write(to: file, options: .atomic)
    #expect(try simulator.push().status == 503)
    try Data(#"[{"action":{"answer":{}}}]"#.utf8).write(to: file)
    #expect(try simulator.push().status == 503, "an invalid file changes nothing")
  }
}

@Suite struct ControlTests {
  @Test func `faults are set, shown and deleted`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"answer":{"status":500}},"match":{"every":2}}]"#)
    #expect(try simulator.push().status == 200)
    #expect(try simulator.push().status == 500)
    let shown = try simulator.control("GET", "faults").body
    let fault = #"{"action":{"answer":{"status":500}},"match":{"every":2},"struck":1}"#
    #expect(shown == #"{"faults":[\#(fault)]}"#)
    #expect(try simulator.control("DELETE", "faults").body == #"{"faults":0}"#)
    #expect(try simulator.push().status == 200)
    #expect(try simulator.push().status == 200)
  }

  @Test func `invalid faults are refused and the old ones kept`() throws {
    let simulator = try RunningSimulator()
    try simulator.setFaults(#"[{"action":{"answer":{"status":500}}}]"#)
    let reply = try simulator.control("POST", "faults", #"[{"action":{"explode":true}}]"#)
    #expect(reply.status == 400)
    #expect(reply.body.contains(#"faults[0].action: found key \"explode\", expected one of"#))
    #expect(try simulator.push().status == 500)
  }

  @Test func `stats count by status and reason`() throws {
    let simulator = try RunningSimulator()
    _ = try simulator.push()
    _ = try simulator.push(jwt: "a.b.c")
    let text = try simulator.control("GET", "stats").body
    #expect(
      text == #"{"connections":{"open":1,"total":3},"reason":{"InvalidProviderToken":1},"#
        + #""requests":2,"status":{"200":1,"403":1}}"#)
  }

  @Test func `tokens are bound, and unbound again`() throws {
    let simulator = try RunningSimulator()
    let tokens = ["aa", "bb", "cc", "dd"].map { String(repeating: $0, count: 32) }
    let entries = [
      #"{"token":"\#(tokens[0])","topic":"com.example.driver"}"#,
      #"{"token":"\#(tokens[1])","environment":"sandbox"}"#,
      #"{"token":"\#(tokens[2])","unregistered_since":1790000000123}"#,
      #"{"token":"\#(tokens[3])","expired_since":1790000000123}"#,
    ]
    let body = #"{"tokens":[\#(entries.joined(separator: ","))]}"#
    #expect(try simulator.control("POST", "tokens", body).body == #"{"tokens":4}"#)
    let replies = try tokens.map { try simulator.push(token: $0) }
    #expect(replies.map(\.status) == [400, 400, 410, 410])
    #expect(
      replies.map(\.body) == [
        #"{"reason":"DeviceTokenNotForTopic"}"#, #"{"reason":"BadDeviceToken"}"#,
        #"{"reason":"Unregistered","timestamp":1790000000123}"#,
        #"{"reason":"ExpiredToken","timestamp":1790000000123}"#,
      ])
    _ = try simulator.control("DELETE", "tokens")
    #expect(try simulator.push(token: tokens[2]).status == 200)
  }

  @Test func `an unknown call is answered 404`() throws {
    let simulator = try RunningSimulator()
    #expect(try simulator.control("GET", "nothing").status == 404)
    #expect(try simulator.control("POST", "tokens", "{}").status == 400)
  }
}
