import Base
import RideCore
import TestSupport
import Testing
import Timeline

@testable import RuleFiles

/// A day with the shipped rules, of an app that reports neither contacts nor receipts.
@Suite struct ShippedDayTests {
  private static let start = Timestamp(epochSeconds: 1_795_219_200)

  /// Returns a line of a day, with its time in seconds after the start.
  private static func line(_ second: Int, _ members: String) -> (second: Int, text: String) {
    (second, #"{"at":"\#(CivilTime.iso(start + .seconds(Int64(second))))",\#(members)}"#)
  }

  private static func ride(
    _ number: Int, of driver: String, from start: Int
  ) -> [(second: Int, text: String)] {
    let id = "r\(number)"
    func change(_ second: Int, _ columns: String) -> (second: Int, text: String) {
      line(start + second, #""ride":{"id":"\#(id)",\#(columns)}"#)
    }
    return [
      change(0, #""state":"requested","customer_id":"u\#(number)","time_zone":"Europe/Berlin""#),
      line(start + 5, #""event":"ride_offer","ride":"\#(id)","data":{"driver_id":"\#(driver)"}"#),
      change(20, #""state":"driver_assigned","driver_id":"\#(driver)""#),
      change(60, #""state":"driver_en_route""#),
      change(600, #""state":"driver_arrived""#),
      change(720, #""state":"ride_started""#),
      change(720 + 600 + number % 1200, #""state":"ride_completed""#),
    ]
  }

  private func pushes(_ lines: [(second: Int, text: String)]) throws -> [String: Int] {
    let rules = try RuleDirectory.load(ScheduleTests.directory).get().ruleSet
    let bundles = Dictionary(uniqueKeysWithValues: rules.apps.map { ($0, "com.example.\($0)") })
    var reader = DayReader()
    let end = CivilTime.iso(Self.start + .seconds(86_400))
    let header = #"{"day":1,"from":"\#(CivilTime.iso(Self.start))","to":"\#(end)"}"#
    _ = try reader.read(Array(header.utf8))
    let options = Rehearsal.Options()
    var rehearsal = Rehearsal(
      try #require(reader.header), by: EngineConfiguration(rules: rules, bundleIDs: bundles),
      options)
    for (_, text) in lines.sorted(by: { $0.second < $1.second }) {
      if let line = try reader.read(Array(text.utf8), of: options.part) {
        try rehearsal.add(line, number: reader.lines)
      }
    }
    return rehearsal.finish().figures.byRule.mapValues(\.pushes)
  }

  @Test func `300 rides of an app without contacts and receipts cause no alarm`() throws {
    let lines = (0..<300).flatMap { Self.ride($0, of: "d\($0 % 40)", from: 200 * $0) }
    let pushes = try pushes(lines)
    #expect(pushes["driver-ride-offer"] == 300)
    for alarm in ["driver-offer-unseen", "driver-lost", "driver-open-app"] {
      #expect(pushes[alarm] ?? 0 == 0, "\(alarm)")
    }
  }

  @Test func `A driver who has seen an offer is asked again about the next one`() throws {
    let seen = Self.line(10, #""seen":{"ride":"r0","rule":"driver-ride-offer"}"#)
    let lines = (0..<2).flatMap { Self.ride($0, of: "d", from: 3000 * $0) } + [seen]
    #expect(try pushes(lines)["driver-offer-unseen"] == 1)
  }
}
