import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

/// The client against a server in place of FCM that misbehaves on demand.
@Suite struct FCMTransportTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var answer: String
    var outcome: PushOutcome
  }

  private static let quota =
    #"{\"error\":{\"details\":[{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":\"QUOTA_EXCEEDED\"}]}}"#

  static let rows: [Row] = [
    Row(
      testDescription: "502 with HTML",
      answer: #"{"status": 502, "body": "<html>Bad gateway</html>"}"#,
      outcome: .refused(Refusal(status: 502))),
    Row(
      testDescription: "404 with HTML",
      answer: #"{"status": 404, "body": "<html>Not found</html>"}"#,
      outcome: .refused(Refusal(status: 404, reason: "PROJECT_NOT_FOUND"))),
    Row(
      testDescription: "5 MB", answer: #"{"status": 503, "size": 5000000}"#,
      outcome: .refused(Refusal(status: 503))),
    Row(
      testDescription: "200 with junk", answer: #"{"status": 200, "body": "\u0000{{{"}"#,
      outcome: .accepted),
    Row(
      testDescription: "retry-after in seconds",
      answer: #"{"status": 429, "headers": [["retry-after", "7"]], "body": "\#(quota)"}"#,
      outcome: .refused(
        Refusal(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: .seconds(7)))),
    Row(
      testDescription: "retry-after of nothing",
      answer: #"{"status": 429, "headers": [["retry-after", "0"]], "body": "\#(quota)"}"#,
      outcome: .refused(Refusal(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: .zero))),
    Row(
      testDescription: "retry-after of 30 years",
      answer: #"{"status": 429, "headers": [["retry-after", "1000000000"]], "body": "\#(quota)"}"#,
      outcome: .refused(
        Refusal(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: RetryAfter.longest))),
    Row(
      testDescription: "half a body", answer: #"{"status": 200, "body": "{\"name\":1}", "cut": 1}"#,
      outcome: .accepted),
    Row(
      testDescription: "RST_STREAM", answer: #"{"reset": 2}"#,
      outcome: .unanswered(.reset("INTERNAL_ERROR"))),
  ]

  @Test("The status decides, whatever the answer is made of", arguments: rows)
  func answer(row: Row) async throws {
    let servers = try await FCMServers(#"{"answers": [\#(row.answer), {"status": 200}]}, {}"#)
    #expect(await servers.send(1) == row.outcome)
    #expect(await servers.send(2) == .accepted)
    let lines = await servers.stop()
    #expect(!lines.fcm.contains { $0.event == "violation" })
    #expect(lines.fcm.requests.count == 2, "each push is sent once")
  }

  @Test func `retry-after may be a date`() async throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = format.string(from: Date(timeIntervalSinceNow: 100))
    let servers = try await FCMServers(
      #"{"answers": [{"status": 503, "headers": [["retry-after", "\#(date)"]]}]}"#)
    guard case .refused(let refusal) = await servers.send(1), let wait = refusal.retryAfter else {
      Issue.record("no wait")
      return
    }
    #expect((.seconds(60) ... .seconds(101)).contains(wait))
    _ = await servers.stop()
  }

  @Test func `the message's ID in FCM is reported`() async throws {
    let name = #"{\"name\":\"projects/rides-prod/messages/0:15%31bd\"}"#
    let servers = try await FCMServers(#"{"answers": [{"status": 200, "body": "\#(name)"}]}"#)
    let reports = await Collected.reports(of: [.message(1)], by: servers.client.client)
    #expect(reports.map(\.outcome) == [.accepted])
    #expect(reports.map(\.uniqueID) == ["0:15%31bd"])
    _ = await servers.stop()
  }

  @Test("GOAWAY, also announced by one without a stream", arguments: ["[5]", "[2147483647, 5]"])
  func goAway(frames: String) async throws {
    let silent = #"{"silent": true}"#
    let servers = try await FCMServers(
      #"""
      {"answers": [{"status": 200}, \#(silent), \#(silent), \#(silent),
        {"goaways": \#(frames), "close": true}]}, {}
      """#)
    #expect(await servers.send(1) == .accepted)
    // Streams 3, 5, 7 and 9: two of them are above the last processed one, 5.
    let outcomes = await servers.send(2...5)
    for outcome in outcomes.prefix(2) {
      guard case .unanswered(.connectionLost) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    #expect(outcomes.suffix(2) == [.accepted, .accepted])
    #expect(await servers.stop().fcm.requests.count == 7)
  }

  @Test(
    "A certificate that is not FCM's is refused, in clear words",
    arguments: [
      ("expired.pem", "ca.pem", "expired"), ("other-host.pem", "ca.pem", "subject name"),
      ("server.pem", "other-ca.pem", "certificate"),
    ])
  func certificate(name: String, trusted: String, text: String) async throws {
    let authorities = try Fixtures.shared.get().path(trusted)
    // A server that can't be verified is tried until the push's deadline.
    let servers = try await FCMServers(
      "{}", certificate: name, requestTimeout: .seconds(10)
    ) { $0.fcmCAFile = authorities }
    guard case .unsent(.noConnection(let why)) = await servers.send(1) else {
      Issue.record("the push was sent")
      return
    }
    #expect(why.contains(text), "\(why)")
    #expect(await servers.stop().fcm.requests.isEmpty)
  }

  @Test func `a refused stream is sent again`() async throws {
    let servers = try await FCMServers(
      #"{"answers": [{"status": 200}, {"refuse": true}, {"status": 200}]}"#)
    #expect(await servers.send(1) == .accepted)
    #expect(await servers.send(2) == .accepted)
    #expect(await servers.stop().fcm.requests.count == 3)
  }

  @Test("The stream limit is obeyed", arguments: [3, 1000])
  func streamLimit(limit: Int) async throws {
    let servers = try await FCMServers(#"{"streams": \#(limit)}"#) { $0.maxConnections = 1 }
    #expect(await servers.send(1) == .accepted)
    await servers.client.wait { $0 == .streamLimit(limit) }
    #expect(await servers.send(2...301).allSatisfy { $0 == .accepted })
    #expect(servers.client.client.statistics(of: .android).streamLimits == [limit])
    let lines = await servers.stop()
    #expect(!lines.fcm.contains { $0.event == "violation" }, "more streams than allowed")
    #expect(Set(lines.fcm.requests.compactMap(\.connection)) == [0])
  }

  @Test func `an idle connection is closed without a ping, and the next push opens one`()
    async throws
  {
    let servers = try await FCMServers("{}") {
      // The first push may be answered late, but before a ping is due.
      $0.fcmIdleTimeout = .seconds(8)
      $0.fcmPingAfter = .seconds(5)
    }
    #expect(await servers.send(1) == .accepted)
    await servers.client.wait { $0 == .closed("idle") }
    #expect(servers.client.client.statistics(of: .android).openConnections == 0)
    #expect(await servers.send(2) == .accepted)
    let lines = await servers.stop().fcm
    #expect(!lines.contains { $0.event == "ping" })
    #expect(lines.requests.compactMap(\.connection) == [0, 1])
  }

  @Test func `a push that waits is worth one ping`() async throws {
    let servers = try await FCMServers(
      #"{"answers": [{"silent": true}]}"#, requestTimeout: .seconds(10)
    ) { $0.fcmPingAfter = .milliseconds(200) }
    #expect(await servers.send(1) == .unanswered(.timeout))
    #expect(await servers.stop().fcm.count { $0.event == "ping" } == 1)
  }

  @Test func `a connection that went dead is replaced`() async throws {
    let servers = try await FCMServers(#"{"answers": [{"status": 200}, {"hole": true}]}, {}"#) {
      $0.fcmPingAfter = .milliseconds(200)
      $0.pingTimeout = .seconds(5)
    }
    #expect(await servers.send(1) == .accepted)
    async let second = servers.send(2)
    await servers.client.wait { $0 == .pingLost }
    guard case .unanswered(.connectionLost) = await second else {
      Issue.record("the push in the hole was not reported as lost")
      return
    }
    #expect(await servers.send(3) == .accepted)
    #expect(await servers.stop().fcm.requests.count == 3)
  }
}
