import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import RidePulse

@Suite("Rules for a share of the rides", .timeLimit(.minutes(60))) struct RuleShareTests {
  private static func rules(_ title: String, states: String = "") -> String {
    """
    \(states)
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: "\(title)" }
        data: { ride_id: "{{ride.id}}" }
        expires: 1h

    """
  }

  private static let otherStates = """
    states: { active: [requested, driver_arrived], final: [gone] }
    """

  private func write(_ stage: Stage, _ name: String, _ text: String) throws -> String {
    let folder = "\(stage.directory)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/a.yaml"))
    return folder
  }

  /// The environment of a service whose rides have the title One, and those of the share Two.
  private func environment(_ stage: Stage, share: String) throws -> [String: String] {
    let one = try write(stage, "one", Self.rules("One"))
    let two = try write(stage, "two", Self.rules("Two"))
    return stage.environment.merging([
      "RIDEPULSE_SCHEDULES": one, "RIDEPULSE_RULES_SHARE": "\(two):\(share)",
    ]) { $1 }
  }

  private static func isShared(_ ride: String, _ share: String) throws -> Bool {
    let sample = try #require(RecordSample(text: share))
    return sample.contains(RideID(ride), hashedAs: RuleTrial.shareName)
  }

  private func titles(_ stage: Stage, rides: [String]) async throws -> [String: String] {
    for ride in rides {
      try await stage.sql("select ridepulse.emit('driver_arrived', '\(ride)')")
    }
    try await stage.settled()
    var titles: [String: String] = [:]
    for arrival in try stage.arrivals() {
      titles[arrival.text("payload", "ride_id") ?? ""] = arrival.aps("alert", "title")
    }
    return titles
  }

  @Test func `two nodes decide each ride by the same one of two sets, and its row names it`()
    async throws
  {
    try await Stage.run { stage in
      var environment = try environment(stage, share: "50%")
      let (first, api) = try await APIClient.serve(environment)
      environment["RIDEPULSE_ADMIN"] = "off"
      let second = try Server(environment)
      let rides = (1...8).map { "r\($0)" }
      for ride in rides { try await stage.addRide(ride, state: "driver_en_route") }
      let expected = try Dictionary(
        uniqueKeysWithValues: rides.map { ($0, try Self.isShared($0, "50%") ? "Two" : "One") })
      #expect(Set(expected.values) == ["One", "Two"])
      let bySQL = try await stage.rows(
        "select id from ridepulse.rides where ridepulse.share('ridepulse rules', id) < 0.5")
      #expect(
        Set(bySQL.compactMap { $0[0] }) == Set(expected.filter { $0.value == "Two" }.map(\.key)))
      for _ in 1...2 { #expect(try await titles(stage, rides: rides) == expected) }

      let reload = try api.send("POST", "/v1/reload", nil)
      #expect(reload.body?.value(at: ["share", "changed"])?.texts == ["arrived"], "\(reload)")
      let revisions = try await stage.rows(
        """
        select l.ride_id, r.rules from ridepulse.ledger l
        join ridepulse.revisions r on r.id = l.decided_by group by 1, 2
        """)
      #expect(revisions.count == rides.count)
      for row in revisions {
        let ride = row[0] ?? ""
        let digest =
          expected[ride] == "Two" ? reload.string("share", "digest") : reload.string("digest")
        #expect(row[1] == digest, "\(ride)")
      }
      let start = (reload.string("share", "digest") ?? "").prefix(12)
      #expect(
        try api.get("/metrics").text.contains(
          "ridepulse_rules_share_info{digest=\"\(start)\",share=\"50%\"} 1\n"))
      try await stage.until(
        "select count(*) from ridepulse.nodes where rules_share like '% for 50\\%'", is: "2")
      #expect(second.stop() == 0)

      // A node with bad files of the share alone goes on with the last good ones.
      _ = try write(stage, "two", "rulez: []\n")
      let (again, other) = try await APIClient.serve(environment)
      #expect(first.stop() == 0)
      #expect(try await titles(stage, rides: rides) == expected)
      #expect(try other.get("/readyz").text.contains("rules: last good, "))
      #expect(again.stop() == 0)
    }
  }

  private static let postingRules = """
    rules:
      - name: texted
        app: courier
        on: driver_arrived
        post: sms
        text: "Here"
        data: {}
        expires: 1h
      - { name: beat, app: customer, every: 5m, while: [driver_arrived], background: {} }

    """

  @Test func `doctor checks the receivers, apps and advice of both directories`() async throws {
    try await Stage.run { stage in
      let environment = try environment(stage, share: "5%")
      try Checkup(environment).expect(
        "rule files of the share", "warning", "two: 1 rule in 1 file for 5%")
      _ = try write(stage, "two", Self.postingRules)
      let checkup = try Checkup(environment)
      checkup.expect("rule files", "warning", "one: 1 rule in 1 file")
      checkup.expect("rule files of the share", "warning", "ridepulse check")
      checkup.expect("receiver sms", "failure", "RIDEPULSE_POST_SMS_URL is not set")
      checkup.expect("topic courier", "failure", "APNS_COURIER_BUNDLE_ID")

      _ = try write(stage, "two", "rulez: []\n")
      let broken = try Checkup(environment)
      broken.expect("rule files", "warning", "one: 1 rule")
      broken.expect("rule files of the share", "failure", "two/a.yaml:1:1")
      let wrong = environment.merging(["RIDEPULSE_RULES_SHARE": "two"]) { $1 }
      try Checkup(wrong).expect(
        "rule files of the share", "failure", "expected a directory and a share")
    }
  }

  @Test func `a page about a ride of the share has its texts`() async throws {
    try await Stage.run { stage in
      let environment = try environment(stage, share: "100%")
      let server = try Server(environment.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      try await stage.addRide("r1", state: "driver_en_route")
      #expect(try await titles(stage, rides: ["r1"]) == ["r1": "Two"])
      #expect(server.stop() == 0)
      let page = try Command.ridepulse(["explain", "r1", "--format", "html"], environment)
      #expect(page.status == 0 && page.output.contains(#""Two""#), "\(page.errors)")
      #expect(!page.output.contains("other rules than those in use decided"))
    }
  }

  @Test func `a share that can't be is refused with its place`() async throws {
    try await Stage.run { stage in
      let environment = try environment(stage, share: "5%")
      let two = "\(stage.directory)/two"
      for (value, text) in [
        (two, "expected a directory and a share"), ("\(two):", "expected a directory"),
        ("\(two):0%", "expected a directory"), (":5%", "expected a directory"),
        ("\(two):120%", "expected a directory"),
        ("\(stage.directory)/./one:5%", "which decides all other rides"),
      ] {
        let wrong = environment.merging(["RIDEPULSE_RULES_SHARE": value]) { $1 }
        for command in ["serve", "check"] {
          let result = try Command.ridepulse([command], wrong)
          #expect(result.status == 1 && result.errors.contains(text), "\(value): \(result)")
        }
      }
      let good = try Command.ridepulse(["check"], environment)
      #expect(good.status == 0 && good.output.contains("two: 1 rule for 5% of the rides"))
      _ = try write(stage, "two", Self.rules("Two", states: Self.otherStates))
      let checked = try Command.ridepulse(["check"], environment)
      #expect(checked.status == 2 && checked.output.contains("two/a.yaml: states that differ"))
      let served = try Command.ridepulse(["serve"], environment)
      #expect(served.status == 1 && served.errors.contains("two/a.yaml: states that differ"))
    }
  }
}
