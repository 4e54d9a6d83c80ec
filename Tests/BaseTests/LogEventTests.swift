import Foundation
import TestSupport
import Testing

@testable import Base

/// Tests of the events that a log records.
@Suite struct LogEventTests {
  @Test(
    arguments: [
      (LogEvent.serving, "serving"), (.claimFailed, "claim_failed"),
      (.lanePausedWithoutAPNs, "lane_paused_without_apns"), (.apnsSentGoAway, "apns_sent_go_away"),
      (.laneRefusedByFCM, "lane_refused_by_fcm"),
    ])
  func `a code is the event's name in snake_case`(_ event: LogEvent, _ code: String) {
    #expect(event.code == code)
  }

  @Test func `no two events have the same code`() {
    #expect(Set(LogEvent.allCases.map(\.code)).count == LogEvent.allCases.count)
  }

  @Test func `The codes are promised`() throws {
    let codes = LogEvent.allCases.map(\.code)
    try PromisedNames.compare(codes, with: "log-codes")
  }

  @Test func `U17: docs/logs.md lists each event with its message, in order`() throws {
    let page = try String(contentsOfFile: Project.path("docs/logs.md"), encoding: .utf8)
    let rows = page.matches(of: /(?m)^\| `([a-z_]+)` \| (.+) \|$/)
      .map { "\($0.output.1): \($0.output.2)" }
    // The first table has the members of a record.
    let listed = rows.drop { !$0.hasPrefix(LogEvent.allCases[0].code) }
    #expect(Array(listed) == LogEvent.allCases.map { "\($0.code): \($0.message)" })
  }

  @Test func `U17: each event is recorded somewhere`() throws {
    let root = Project.path("Sources")
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    let files = names.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("Base/LogEvent.swift") }
    let text = try files.map { try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8) }
      .joined()
    var used: Set<Substring> = []
    for match in text.matches(of: /\.([a-z][A-Za-z]+)/) { used.insert(match.output.1) }
    for event in LogEvent.allCases { #expect(used.contains("\(event)"), "\(event)") }
  }

  @Test func `a field is a number if its value is one`() {
    #expect((7 as any LogValue).logged == .integer(7))
    #expect((UInt16(9464) as any LogValue).logged == .integer(9464))
    #expect((Duration.milliseconds(2500) as any LogValue).logged == .number(2.5))
    #expect(("7" as any LogValue).logged == .string("7"))
  }
}
