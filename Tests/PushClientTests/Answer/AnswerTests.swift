import Base
import RideCore
import Testing

@testable import PushClient

@Suite struct AnswerTests {
  static let now = Timestamp(epochSeconds: 784_111_700)

  private func outcome(
    _ status: [String], body: String = "", retryAfter: String? = nil
  ) -> PushOutcome? {
    var answer = PushResponse()
    for text in status {
      unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe answer.receive(status: $0) }
    }
    unsafe Array(body.utf8).withUnsafeBufferPointer { unsafe _ = answer.receive(body: $0) }
    if let retryAfter {
      unsafe Array(retryAfter.utf8).withUnsafeBufferPointer {
        unsafe answer.receive(retryAfter: $0)
      }
    }
    return answer.outcome(at: Self.now)
  }

  @Test(
    "R10: which status stands",
    arguments: [
      (["200"], 200), (["103", "410"], 410), (["400", "200"], 400), (["103"], nil), ([], nil),
      (["abc"], nil), (["20"], nil), (["2000"], nil), ([""], nil), (["-20"], nil),
      (["999"], 999), (["2 0"], nil),
    ] as [([String], Int?)])
  func status(texts: [String], status: Int?) {
    let expected: PushOutcome? = status.map {
      $0 == 200 ? .accepted : .refused(Refusal(status: $0))
    }
    #expect(outcome(texts) == expected)
  }

  @Test(
    "R102: the ID of Apple's console",
    arguments: [
      ("8f2e1a90-6a55-4d3f-9d3c-0c5b0a7a1b11", true), ("A", true), ("", false),
      (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
      ("a b", false), ("a\u{0}", false), ("a\u{7f}", false), ("\u{e9}", false),
    ])
  func uniqueID(text: String, isKept: Bool) {
    var answer = PushResponse()
    unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe answer.receive(uniqueID: $0) }
    #expect(answer.uniqueID == (isKept ? text : nil))
  }

  @Test(
    "R10: what a body says of the reason",
    arguments: [
      (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
      (#"{"reason":"Unregistered","timestamp":1700000000123}"#, "Unregistered", 1_700_000_000_123),
      (#"{"reason":"X","timestamp":"soon"}"#, "X", nil),
      (#"{"reason":"X","timestamp":-5}"#, "X", nil),
      (#"{"reason":"X","timestamp":1e300}"#, "X", nil),
      (#"{"reason":"X","timestamp":9223372036854775807}"#, "X", nil),
      (#"{"reason":42,"timestamp":5}"#, nil, 5),
      (#"{"reason":null}"#, nil, nil), (#"{"reason":""}"#, nil, nil), ("{}", nil, nil),
      ("[]", nil, nil), ("null", nil, nil), ("<html>", nil, nil), ("{\"reason\":\"X\"", nil, nil),
      ("\u{0}\u{1}", nil, nil), (String(repeating: "[", count: 4000), nil, nil),
      (String(repeating: #"{"a":"#, count: 800), nil, nil),
      (#"{"reason":""# + String(repeating: "x", count: 129) + #""}"#, nil, nil),
    ] as [(String, String?, Int64?)])
  func reason(body: String, reason: String?, milliseconds: Int64?) {
    let timestamp = milliseconds.map { Timestamp(microseconds: $0 * 1000) }
    #expect(
      outcome(["410"], body: body)
        == .refused(Refusal(status: 410, reason: reason, timestamp: timestamp)))
  }

  @Test("Of a long body 4096 bytes are kept")
  func longBody() {
    var answer = PushResponse()
    let piece = [UInt8](repeating: 0x78, count: 3000)
    unsafe piece.withUnsafeBufferPointer { piece in
      unsafe #expect(answer.receive(body: piece))
      unsafe #expect(!answer.receive(body: piece))
      unsafe #expect(!answer.receive(body: piece))
    }
    #expect(answer.body.count == 4096)
  }

  @Test(
    "R4: retry-after in seconds or as a date",
    arguments: [
      ("2", .seconds(2)), ("0", .zero), (" 7", .seconds(7)), ("999999999", .seconds(86_400)),
      ("99999999999999999999", .seconds(86_400)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(77)), ("Sun, 06 Nov 1994 08:00:00 GMT", .zero),
      ("-1", nil), ("2.5", nil), ("soon", nil), ("", nil), ("Foo, 99 Bar GMT", nil),
    ] as [(String, Duration?)])
  func retryAfter(value: String, duration: Duration?) {
    #expect(
      outcome(["429"], retryAfter: value)
        == .refused(Refusal(status: 429, retryAfter: duration)))
  }
}
