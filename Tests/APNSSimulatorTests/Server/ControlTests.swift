import Foundation
import Testing

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

  @Test func `bad faults are refused and the old ones stay`() throws {
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
