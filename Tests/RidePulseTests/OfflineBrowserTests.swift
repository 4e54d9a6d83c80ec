import Foundation
import Testing
import TestSupport

/// Tests of the pages that need no server, in Debian's chromium.
@Suite(
  .serialized, .timeLimit(.minutes(60)),
  .enabled(if: Browser.isInstalled, "chromium and chromedriver are not installed"))
struct OfflineBrowserTests {
  @Test func `The page of a story shows other screens with each switch, and is narrow`()
    async throws
  {
    try await Stage.run { stage in
      let file = stage.directory + "/story.html"
      let golden = Project.path("Tests/RidePulseTests/Golden")
      let result = try Command.ridepulse([
        "preview", "--story", golden + "/story.yaml", "--schedules", golden + "/story-rules",
        "--format", "html", "--output", file,
      ])
      #expect(result.status == 0, "\(result.errors)")
      try await stage.play("story", "file://" + file)
    }
  }

  /// The README shows this picture and the same ride in `explain`.
  @Test func `A ride of the shipped rules shows on an iPhone and on an Android phone`() async throws
  {
    try await Stage.run { stage in
      let normal = try String(
        contentsOfFile: Project.path("docs/stories/normal.yaml"), encoding: .utf8)
      let phones = """
        phones: [{ app: customer, owner_id: u17 }, { app: driver, owner_id: d4, platform: android }]
        """
      let story = stage.directory + "/phones.yaml"
      try Data(normal.replacing("\nwhen:", with: "\n  \(phones)\nwhen:").utf8)
        .write(to: URL(fileURLWithPath: story))
      let file = stage.directory + "/phones.html"
      let result = try Command.ridepulse([
        "preview", "--story", story, "--schedules", Stage.rules, "--format", "html",
        "--output", file,
      ])
      #expect(result.status == 0, "\(result.errors)")
      try await stage.play("phones", "file://" + file)
    }
  }

  /// Writes a page that needs no server, and looks at it in two widths, in light and dark.
  private func look(
    at name: String, _ arguments: [String], _ stage: Stage, environment: [String: String] = [:],
    status: Int32 = 0
  ) async throws {
    let page = try Command.ridepulse(arguments + ["--format", "html"], environment)
    #expect(page.status == status, "\(page.errors)")
    let path = stage.directory + "/\(name).html"
    try Data(page.output.utf8).write(to: URL(fileURLWithPath: path))
    try await stage.play("offline", "file://" + path)
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is not installed; make browser-test installs it"))
  func `A page about a recorded ride is accessible, quiet, and fits`() async throws {
    try await Stage.run { stage in
      let recording = ["RIDEPULSE_RECORD": "100%"]
      let server = try Server(stage.environment.merging(recording) { $1 })
      try await stage.addFleet()
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r-7'")
      try await stage.settled()
      #expect(server.stop() == 0)
      try await look(at: "ride", ["explain", "r-7"], stage, environment: stage.environment)
    }
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is not installed; make browser-test installs it"))
  func `A story of the shipped rules is accessible and fits, also in German and Arabic`()
    async throws
  {
    try await Stage.run { stage in
      let story = Project.path("docs/stories/normal.yaml")
      try await look(
        at: "shipped", ["preview", "--story", story, "--schedules", Stage.rules], stage)
    }
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is not installed; make browser-test installs it"))
  func `A preview of rides with German and Arabic phones is accessible and fits`() async throws {
    try await Stage.run { stage in
      let rides = stage.directory + "/rides.jsonl"
      let row = """
        {"id": "r1", "state": "scheduled", "customer_id": "c1", "driver_id": "d1", \
        "pickup_at": "2026-11-21T09:10:00Z", "time_zone": "Europe/Berlin", \
        "attributes": {"pickup_address": "12 Canal Street"}, "phones": [\
        {"app": "customer", "token": "00aa", "locale": "de"}, \
        {"app": "customer", "token": "00bb", "locale": "ar"}]}

        """
      try Data(row.utf8).write(to: URL(fileURLWithPath: rides))
      let arguments = [
        "preview", "--rides", rides, "--from", "2026-11-21T08:00:00Z", "--schedules", Stage.rules,
      ]
      try await look(at: "preview", arguments, stage)
    }
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is not installed; make browser-test installs it"))
  func `The pages of a rehearsal, with changes and with limits, are accessible and fit`()
    async throws
  {
    try await Stage.run { stage in
      let golden = Project.path("Tests/RidePulseTests/Golden")
      let rules = golden + "/rehearsal-rules"
      let text = try String(contentsOfFile: rules + "/rules.yaml", encoding: .utf8)
      _ = try stage.environment(
        rules: text.replacing("every: 20m", with: "every: 30m").replacing("is here", with: "waits"))
      let day = ["rehearse", golden + "/day.jsonl", "--schedules"]
      try await look(
        at: "rehearse",
        day + [stage.directory + "/rules", "--against", rules, "--fail-on", "added"], stage)
      try await look(
        at: "limits", day + [rules, "--fail-on", "rings-per-ride=0"], stage, status: 2)
    }
  }
}
