import Base
import RideCore
import Synchronization
import Testing

@testable import PushClient

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
      testDescription: "a status that is not a number", answer: #"{"raw": [[":status", "abc"]]}"#,
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

  @Test func `pushes that follow answers share the connection`() async throws {
    let server = try await FaultServer(#"{"connections": [{"streams": 200}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(0)) == .accepted)
    let relay = Relay(client.client, batches: 5, of: 200)
    #expect(await relay.accepted() == 1000)
    #expect(client.client.statistics(of: .production).openedTotal == 1)
    await client.close()
    _ = await server.stop()
  }

  /// Submits a batch of pushes, and one push for each report, until enough have been sent.
  private final class Relay: Sendable {
    private struct State {
      var next: UInt64 = 1
      var accepted = 0
      var waiter: CheckedContinuation<Int, Never>?
    }

    private let client: PushClient
    private let batch: Int
    private let total: Int
    private let state = Mutex(State())

    init(_ client: PushClient, batches: Int, of batch: Int) {
      self.client = client
      self.batch = batch
      total = batches * batch
    }

    /// Returns the number of accepted pushes once all have ended.
    func accepted() async -> Int {
      await withCheckedContinuation { waiter in
        state.withLock { $0.waiter = waiter }
        submit(batch)
      }
    }

    private func submit(_ count: Int) {
      let requests = state.withLock { state in
        let end = min(state.next + UInt64(count), UInt64(total) + 1)
        defer { state.next = end }
        return (state.next..<end).map { PushRequest.test($0) }
      }
      if requests.isEmpty { return }
      client.submit(requests) { [self] reports in
        submit(reports.count)
        let waiter = state.withLock { state in
          state.accepted += reports.count { $0.outcome == .accepted }
          return state.accepted == total ? state.waiter : nil
        }
        waiter?.resume(returning: total)
      }
    }
  }
}
