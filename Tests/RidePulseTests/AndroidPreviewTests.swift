import Base
import Foundation
import RideCore
import TestSupport
import Testing

/// What previews, stories and `check` show of Android phones, which is nothing without them.
@Suite struct AndroidPreviewTests {
  private static let rules = """
    states: { active: [requested, driver_arrived], final: [done] }
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Here, sound: default, interruption-level: time-sensitive }
        data: { from: x }
        expires: 5m
      - name: soon
        app: customer
        at: pickup_at - 5m
        alert: { title: Soon }
        expires: 5m

    """

  private static func run(
    _ words: [String], _ files: [String: String] = [:], _ environment: [String: String] = [:],
    rules: String = Self.rules
  ) throws -> Tool {
    try ScratchFolder.with { folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/rules", withIntermediateDirectories: true)
      for (name, text) in files.merging(["rules/a.yaml": rules], uniquingKeysWith: { $1 }) {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      }
      return try Command.ridepulse(words, environment, in: folder)
    }
  }

  private static func preview(_ phones: [String], _ words: [String] = []) throws -> Tool {
    let ride =
      #"{"id":"r1","state":"requested","customer_id":"u1","pickup_at":"2026-11-21T08:10:00Z","phones":["#
      + phones.joined(separator: ",") + "]}\n"
    return try run(
      [
        "preview", "--rides", "rides.jsonl", "--from", "2026-11-21T08:00:00Z", "--schedules",
        "rules",
      ] + words, ["rides.jsonl": ride])
  }

  private static let iPhone = #"{"app":"customer","token":"00aabb11ccdd22"}"#
  private static let android = #"{"app":"customer","token":"dRt:AbC","platform":"android"}"#

  @Test(arguments: [
    ([iPhone], "1\n"), ([iPhone, android], "2 (1 iOS, 1 Android)\n"),
    ([android], "1 (1 Android)\n"),
  ])
  func `The table counts phones by system if there are Android phones`(
    phones: [String], count: String
  ) throws {
    let result = try Self.preview(phones)
    #expect(result.status == 0, "\(result.errors)")
    let line = try #require(result.output.split(separator: "\n").first { $0.contains(" soon ") })
    #expect((line + "\n").hasSuffix("  \(count)"), "\(line)")
  }

  @Test func `JSON names the platform in the place of the environment`() throws {
    let result = try Self.preview([Self.iPhone, Self.android], ["--format", "json"])
    let devices = result.output.split(separator: "\n").compactMap {
      JSONValue(json: $0.utf8)?.value(at: ["devices"])?.text
    }
    #expect(
      devices == [
        #"[{"environment":"production","token_suffix":"ccdd22"}]"#,
        #"[{"platform":"android","token_suffix":"Rt:AbC"}]"#,
      ])
  }

  private static let story = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: requested, customer_id: u1 }
      phones:
        - { app: customer, locale: en }
        - { app: customer, locale: en, platform: android }
    when: [{ at: 5m, state: driver_arrived }]

    """

  @Test func `A story shows what each phone gets`() throws {
    let rules = Self.rules.replacing("    data: { from: x }\n", with: "")
    let result = try Self.run(
      ["preview", "--story", "story.yaml", "--schedules", "rules"], ["story.yaml": Self.story],
      rules: rules)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output.contains(
        """
          arrived to customer, alert, time-sensitive, sound default, priority 10, valid until 08:10:00
            en   Here
            en   Android · ride_now · HIGH: Here
        """), "\(result.output)")
  }

  @Test func `A key that FCM keeps to itself is suppressed on Android alone`() throws {
    let result = try Self.run(
      ["preview", "--story", "story.yaml", "--schedules", "rules"], ["story.yaml": Self.story])
    #expect(result.output.contains("    en   Here\n"), "\(result.output)")
    #expect(result.output.contains("\"from\""), "\(result.output)")
  }

  @Test func `check warns about Android only if FCM is configured`() throws {
    let warning = "rules/a.yaml:7:13: warning: the rule arrived: the key \"from\" in data"
    let without = try Self.run(["check", "rules"])
    #expect(without.status == 0 && !without.output.contains("Android"), "\(without)")
    let with = try Self.run(
      ["check", "rules"], [:], ["FCM_SERVICE_ACCOUNT_PATH": "/run/fcm.json"])
    #expect(with.status == 0 && with.output.contains(warning), "\(with)")
  }
}
