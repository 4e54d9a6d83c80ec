import Foundation
import TestSupport
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// What the simulator adds to Apple's answers for the developer who sent the push.
@Suite struct DetailTests {
  private static let empty = #"{"aps":{"alert":{"title":""}}}"#

  @Test func `a refusal has the record's detail in a header, and Apple's body`() throws {
    let simulator = try RunningSimulator()
    let reply = try simulator.push(token: "abcd")
    #expect(reply.body == #"{"reason":"BadDeviceToken"}"#)
    let detail = "a token is 64 to 512 hex digits, an even number"
    #expect(reply.headers["apns-simulator-detail"] == detail)
    #expect(try simulator.records().first?["detail"] as? String == detail)
  }

  @Test func `an accepted push that the phone drops has the reason in the same header`() throws {
    let simulator = try RunningSimulator(["--lenient", "payloads"])
    let reply = try simulator.push(payload: Self.empty)
    let detail = "an alert push needs a text, a badge or a sound"
    #expect(reply.status == 200 && reply.body == "")
    #expect(reply.headers["apns-simulator-detail"] == detail)
    #expect(try simulator.records().first?["dropped"] as? String == detail)
  }

  @Test func `an answer that a fault decides has no detail`() throws {
    let simulator = try RunningSimulator(["--lenient", "payloads"])
    let answer = #"{"status":503,"reason":"ServiceUnavailable"}"#
    try simulator.setFaults(#"[{"action":{"answer":\#(answer)}}]"#)
    let reply = try simulator.push(payload: Self.empty)
    #expect(reply.status == 503)
    #expect(reply.headers["apns-simulator-detail"] == nil)
  }

  @Test(arguments: [
    ("kid must be A or B", "kid must be A or B"), ("100 %", "100 %25"),
    ("aps.é is not a key", "aps.%c3%a9 is not a key"), ("a\r\nb\u{7F}", "a%0d%0ab%7f"), ("", ""),
    (String(repeating: "x", count: 1000), String(repeating: "x", count: 1000)),
    (String(repeating: "x", count: 1001), String(repeating: "x", count: 1000) + "..."),
    // A character is never cut in two.
    (String(repeating: "x", count: 995) + "éé", String(repeating: "x", count: 995) + "..."),
  ])
  func `a text in a header is one line of ASCII`(text: String, value: String) {
    #expect(Header(name: "a", text: text).value == value)
  }
}

@Suite struct KeyWarningTests {
  private static let misspelled =
    #"{"aps":{"alert":{"titel":"x","body":"y"},"thread_id":"ride-1","ride":"r1"},"own":1}"#

  private static let warnings = [
    "com.example.customer: aps.alert.titel is not a key of Apple's, and the phone ignores it; "
      + "the nearest known is title",
    "com.example.customer: aps.ride is not a key of Apple's, and the phone ignores it; "
      + "own keys go next to aps",
    "com.example.customer: aps.thread_id is not a key of Apple's, and the phone ignores it; "
      + "the nearest known is thread-id",
  ]

  private func push(_ payload: String, _ topic: String? = nil) -> Push {
    var request = Fixture.request()
    if let topic { request.set("apns-topic", topic) }
    request.setBody(payload)
    return Push(request, in: Fixture.context)
  }

  @Test func `each unknown key is reported once for a topic`() {
    var warnings = KeyWarnings()
    #expect(warnings.next(for: push(Self.misspelled)) == Self.warnings)
    #expect(warnings.next(for: push(Self.misspelled)) == [])
    let driver = warnings.next(for: push(Self.misspelled, "com.example.driver"))
    #expect(driver == Self.warnings.map { $0.replacing("customer", with: "driver") })
  }

  @Test(arguments: PushType.allCases)
  func `a correct push has no warning`(type: PushType) {
    var warnings = KeyWarnings()
    #expect(warnings.next(for: Push(Fixture.request(type), in: Fixture.context)) == [])
  }

  @Test func `a sender that makes up keys does not fill the log`() {
    var warnings = KeyWarnings()
    let count = (0..<2000).reduce(0) { sum, number in
      sum + warnings.next(for: push(#"{"aps":{"alert":"x","k\#(number)":1}}"#)).count
    }
    #expect(count == 1000)
  }

  @Test(arguments: [([], true), (["--strict", "aps"], false)])
  func `the log has a warning for a key that is accepted`(words: [String], isLogged: Bool) throws {
    let simulator = try RunningSimulator(words, logs: true)
    for _ in 0..<2 { _ = try simulator.push(payload: Self.misspelled) }
    let lines = try simulator.log().split(separator: "\n").map(String.init)
    let expected = Self.warnings.map { "apns-simulator: warning: \($0)" }
    #expect(lines.filter { $0.contains("warning") } == (isLogged ? expected : []))
  }
}
