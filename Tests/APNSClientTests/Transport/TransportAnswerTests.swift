import RideCore
import Testing

@testable import APNSClient

/// R10 end to end: the status counts, whatever the body contains.
@Suite struct TransportAnswerTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var answer: String
    var outcome: PushOutcome
  }

  static let rows: [Row] = [
    Row(
      testDescription: "502 with HTML",
      answer: #"{"status": 502, "body": "<html>Bad gateway</html>"}"#,
      outcome: .refused(Refusal(status: 502))),
    Row(
      testDescription: "500 and nothing", answer: #"{"status": 500}"#,
      outcome: .refused(Refusal(status: 500))),
    Row(
      testDescription: "200 with junk", answer: #"{"status": 200, "body": "\u0000{{{"}"#,
      outcome: .accepted),
    Row(
      testDescription: "410 with a timestamp",
      answer:
        #"{"status": 410, "body": "{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}"}"#,
      outcome: .refused(
        Refusal(
          status: 410, reason: "Unregistered",
          timestamp: Timestamp(microseconds: 1_700_000_000_123_000)))),
    Row(
      testDescription: "retry-after in capitals",
      answer: #"{"status": 429, "headers": [["Retry-After", "2"]]}"#,
      outcome: .refused(Refusal(status: 429, retryAfter: .seconds(2)))),
    Row(
      testDescription: "a body without end", answer: #"{"status": 503, "size": 60000}"#,
      outcome: .refused(Refusal(status: 503))),
    Row(
      testDescription: "an early hint first", answer: #"{"interim": 103, "status": 200}"#,
      outcome: .accepted),
    Row(
      testDescription: "trailers with another status",
      answer: #"{"status": 400, "body": "{}", "trailers": [[":status", "200"], ["x-a", "b"]]}"#,
      outcome: .refused(Refusal(status: 400))),
    Row(
      testDescription: "no status", answer: #"{"raw": [["x-a", "b"]]}"#,
      outcome: .unanswered(.reset("PROTOCOL_ERROR"))),
    Row(
      testDescription: "a status that is no number", answer: #"{"raw": [[":status", "abc"]]}"#,
      outcome: .unanswered(.reset("PROTOCOL_ERROR"))),
    Row(
      testDescription: "a status of four digits", answer: #"{"raw": [[":status", "2000"]]}"#,
      outcome: .unanswered(.reset("PROTOCOL_ERROR"))),
  ]

  @Test("R10: the status decides, whatever the answer is made of", arguments: rows)
  func hostileAnswer(row: Row) async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [\#(row.answer), {"status": 200}]}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == row.outcome)
    #expect(await client.send(.test(2)) == .accepted)
    await client.close()
    let lines = await server.stop()
    #expect(!lines.contains { $0.event == "violation" })
  }

  @Test("R102: apns-unique-id of an answer is reported, whatever the status")
  func uniqueID() async throws {
    let answers = [
      #"{"status": 200, "headers": [["content-length", "0"], ["apns-unique-id", "u-1"]]}"#,
      #"{"status": 400, "headers": [["apns-unique-id", "u-2"]]}"#, #"{"status": 200}"#,
    ]
    let server = try await FaultServer(
      #"{"connections": [{"answers": [\#(answers.joined(separator: ","))]}]}"#)
    let client = try TestClient(server.url)
    var ids: [String?] = []
    for number in 1...3 as ClosedRange<UInt64> {
      ids += await Collected.reports(of: [.test(number)], by: client.client).map(\.uniqueID)
    }
    #expect(ids == ["u-1", "u-2", nil])
    await client.close()
    _ = await server.stop()
  }
}
