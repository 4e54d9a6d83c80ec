import Foundation
import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct RecordedRequestTests {
  private static let headers =
    #""headers":{"x-b":["1","2"],":method":"POST",":path":"/3/device/ab","content-length":"9"}"#

  private func record(_ members: String, status: Int = 200) -> String {
    #"{"received_at":1.5,"connection":3,"stream":1,"status":\#(status),\#(members)}"#
  }

  private func read(_ text: String) throws -> [RecordedRequest] {
    try RecordedRequest.read(Array(text.utf8))
  }

  @Test func `headers and answer are read, the length of the body is not`() throws {
    let text = record(
      #""reason":"BadTopic","dropped":"x","fault":"stall","jwt":{"kid":"K","iss":"T"},"#
        + Self.headers + #","payload_bytes":0"#)
    let records = try read("\n" + text + "\n\n" + text)
    #expect(records.map(\.line) == [2, 4])
    let record = try #require(records.first)
    #expect(record.connection == 3 && record.receivedAt == 1.5 && record.status == 200)
    #expect(record.reason == "BadTopic" && record.isDropped && record.fault == "stall")
    #expect(record.keyID == "K" && record.teamID == "T")
    let names = record.request.headers.map { "\($0.name)=\($0.value)" }
    #expect(names == [":method=POST", ":path=/3/device/ab", "x-b=1", "x-b=2"])
    #expect(record.request.body.isEmpty)
  }

  @Test(arguments: [
    // As the simulator writes it: the text itself.
    (#""payload_bytes":10,"payload":{"a": 2e0}"#, #"{"a": 2e0}"#),
    // As jq writes it.
    (#""payload_bytes":10,"payload":{"a":2}"#, #"{"a":2}   "#),
    (#""payload":{"a":2},"payload_bytes":7"#, #"{"a":2}"#),
    (#""payload_bytes":7,"payload_text":"{\"aps\":""#, #"{"aps":"#),
    (#""payload_bytes":3,"payload_base64url":"AQID""#, "\u{1}\u{2}\u{3}"),
    // What was larger than the record keeps.
    (#""payload_bytes":5,"payload_text":"abc""#, "abc  "),
    (#""payload_bytes":0"#, ""),
  ])
  func `a body has its recorded bytes`(members: String, body: String) throws {
    let text = record(Self.headers + "," + members)
    let record = try #require(try read(text).first)
    #expect(String(decoding: record.request.body, as: UTF8.self) == body)
    #expect(record.request.bodyBytes == body.utf8.count)
  }

  @Test(arguments: [
    ("x", "line 1: found no JSON at byte 0"), ("[]", "line 1: found [], expected an object"),
    ("{}", "line 1.connection: found nothing, expected an integer"),
    (#"{"connection":1,"status":200}"#, "line 1.received_at: found nothing"),
    (
      #"{"connection":1,"status":200,"received_at":1,"payload_bytes":0}"#,
      "line 1.headers: found nothing, expected an object"
    ),
    (
      #"{"connection":1,"status":200,"received_at":1,"headers":{"a":1},"payload_bytes":0}"#,
      "line 1.headers.a: found 1, expected a string"
    ),
    (
      #"{"connection":1,"status":200,"received_at":1,"headers":{},"payload_bytes":-1}"#,
      "line 1.payload_bytes: found -1, expected up to 1 MB"
    ),
    (
      #"{"connection":1,"status":200,"received_at":1,"headers":{},"payload_bytes":\#(Int.max)}"#,
      "line 1.payload_bytes: found 9223372036854775807, expected up to 1 MB"
    ),
    (
      #"{"connection":1,"status":200,"received_at":1,"headers":{},"#
        + #""payload_bytes":1,"payload_base64url":"="}"#,
      #"line 1.payload_base64url: found "=", expected base64url"#
    ),
  ])
  func `a line of another form is refused with its place`(text: String, message: String) {
    let error = #expect(throws: FormatError.self) { try read(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  }

  @Test func `a payload as deep as the simulator accepts is read`() throws {
    let (start, end) = (String(repeating: "[", count: 64), String(repeating: "]", count: 64))
    #expect(throws: Never.self) { try JSONParser.parse(Array((start + end).utf8)) }
    let text = record(Self.headers + #","payload_bytes":128,"payload":"# + start + end)
    #expect(try read(text).first?.request.body == Array((start + end).utf8))
  }

  private static let accepted = Answer(status: 200, headers: [], body: [])
  private static let dropped = Answer(
    status: 200, headers: [Header(name: "apns-simulator-detail", value: "no text")], body: [])
  private static let refused = Answer(
    status: 400, headers: [Header(name: "apns-simulator-detail", value: "it is 7")],
    body: Array(#"{"reason":"BadPriority"}"#.utf8))

  @Test(
    arguments: [
      ("", 200, accepted, nil), (#""dropped":"other","#, 200, dropped, nil),
      (#""reason":"BadPriority","#, 400, refused, nil),
      ("", 200, refused, "recorded 200, now 400 BadPriority: it is 7"),
      (
        #""reason":"BadTopic","#, 400, refused,
        "recorded 400 BadTopic, now 400 BadPriority: it is 7"
      ),
      ("", 200, dropped, "recorded 200, now 200 dropped: no text"),
      (#""dropped":"x","#, 200, accepted, "recorded 200 dropped, now 200"),
      (#""fault":"stall","#, 0, accepted, "recorded no answer (fault stall), now 200"),
    ] as [(String, Int, Answer, String?)])
  func `answers are compared`(
    members: String, status: Int, answer: Answer, difference: String?
  ) throws {
    let text = record(members + Self.headers + #","payload_bytes":0"#, status: status)
    let record = try #require(try read(text).first)
    let found = ReplaySummary.difference(record, SentAnswer(answer))
    #expect(found == difference.map { "line 1: POST /3/device/ab: \($0)" })
  }

  @Test(arguments: [
    (ReplaySummary(), "0 requests replayed, 0 answers differ"),
    (
      ReplaySummary(replayed: 1, different: 1, skipped: 2),
      "1 request replayed, 1 answer differs; 2 not sent, refused for the JWT then"
    ),
  ])
  func `the summary counts`(summary: ReplaySummary, text: String) {
    #expect(summary.text == text)
  }
}
