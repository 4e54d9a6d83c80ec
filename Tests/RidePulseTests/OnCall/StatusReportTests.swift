import Base
import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import RidePulse

@Suite("ridepulse status and nodes", .timeLimit(.minutes(60))) struct StatusReportTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The beginning of the first line, and the exit status.
    var first: String
    var status: RidePulse.ExitStatus
    /// Parts of the other lines.
    var parts: [String] = []
    var change: @Sendable (inout DatabaseState, inout LivingState) -> Void
  }

  private static let noon = Timestamp(epochSeconds: 1_800_000_000)
  private static let claiming = LivingState.Node(host: "a", sinceClaim: .seconds(1))

  private static let cases = [
    Case(
      testDescription: "a node claims", first: "sending    yes: 1 node claims, last 1s ago",
      status: .done, parts: ["due rides  none", "none within 5 min", "all OK"]
    ) { _, living in living.nodes = [claiming] },
    Case(
      testDescription: "pushes and a lane that is paused", first: "sending    yes", status: .done,
      parts: [
        "customer   1204 accepted, 3 failed (BadDeviceToken), 12 waiting (lane_paused) within 5 min",
        "driver     7 accepted within 5 min", "due rides  2, the oldest for 4s",
      ]
    ) { _, living in
      living.nodes = [claiming]
      (living.dueRides, living.oldestDue) = (2, .seconds(4))
      living.traffic = [
        AppTraffic(
          app: "customer", accepted: 1204, failed: 3, waiting: 12, failure: "BadDeviceToken",
          wait: "lane_paused"),
        AppTraffic(app: "driver", accepted: 7),
      ]
    },
    Case(
      testDescription: "a pause is a warning", first: "sending    yes", status: .done,
      parts: [
        "paused     rule eta until 2027-01-15T08:00:00Z by alice: wrong text",
        "do: ridepulse resume rule eta",
      ]
    ) { _, living in
      living.nodes = [claiming]
      living.pauses = Pauses([
        Pause(.rule, "eta", until: noon, since: noon, author: "alice", reason: "wrong text")
      ])
    },
    Case(testDescription: "no node", first: "sending    no: no node claims", status: .foundProblems)
    { _, _ in },
    Case(
      testDescription: "a node that is silent", first: "sending    no: no node claims",
      status: .foundProblems, parts: ["nodes", "none claims; the last claim was 16s ago"]
    ) { _, living in living.nodes = [.init(host: "a", sinceClaim: .seconds(16))] },
    Case(
      testDescription: "no node reaches a service",
      first: "sending    no: no node reaches APNs or FCM", status: .foundProblems,
      parts: ["node a", "check DNS"]
    ) { _, living in
      living.nodes = [.init(host: "a", sinceClaim: .seconds(1), reach: .lost)]
    },
    Case(
      testDescription: "events that no node has read", first: "sending    yes", status: .done,
      parts: ["due rides  none; events wait, the oldest for 40s"]
    ) { _, living in
      living.nodes = [claiming]
      living.oldestDue = .seconds(40)
    },
    Case(
      testDescription: "held",
      first: "sending    no: held since 2027-01-15T08:00:00Z by bob: drill",
      status: .foundProblems, parts: ["do: ridepulse release"]
    ) { state, living in
      living.nodes = [claiming]
      living.hold = SendingHold(since: noon, reason: "drill", author: "bob")
      state.pin = .known([PinProblem(kind: .held, pinned: "drill", found: "08:00")])
    },
    Case(
      testDescription: "settlements fail", first: "sending    no: settlements fail: 53100",
      status: .foundProblems
    ) { state, living in
      living.nodes = [claiming]
      state.trial = .known("53100: no space left")
    },
  ]

  @Test(arguments: cases) func `the first line answers whether it sends`(example: Case) {
    var (state, living) = (DatabaseState(), LivingState())
    state.locks = .known([])
    state.pin = .known([])
    state.trial = .known(nil)
    example.change(&state, &living)
    state.living = .known(living)
    // What only a connection has is left out.
    state.server = .unasked
    let report = StatusReport(state)
    let text = report.text(hasColour: false)
    #expect(text.hasPrefix(example.first), "\(text)")
    for part in example.parts { #expect(text.contains(part), "\(part): \(text)") }
    #expect(report.status == example.status)
    #expect(report.json["sending"] == .bool(example.first.hasPrefix("sending    yes")))
  }

  @Test func `a database that can't be reached is named`() throws {
    let result = try Command.ridepulse(["status"], ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == 2 && result.output.hasPrefix("sending  no: "), "\(result)")
    #expect(result.output.contains("start Postgres"))
    let watched = try Command.ridepulse(["status", "--watch"], ["DATABASE_URL": "host=/nowhere"])
    #expect(watched.status == 64 && watched.errors.contains("on a terminal"), "\(watched)")
  }

  @Test func `a running service is listed, held and released`() async throws {
    try await Stage.run { stage in
      func run(_ words: String..., status: Int32) throws -> String {
        let result = try Command.ridepulse(words, stage.environment)
        #expect(result.status == status, "\(words): \(result)")
        return result.output
      }
      #expect(try run("nodes", status: 0).contains("no node has claimed"))
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      try await stage.until(
        "select count(*) from ridepulse.nodes where revision is not null", is: "1")
      let nodes = try run("nodes", "--format", "json", status: 0)
      let node = JSONValue(json: nodes.utf8).flatMap { json in
        if case .array(let list) = json { list.first } else { nil }
      }
      #expect(node?["version"] == .string(Version.text))
      #expect([.string("sleeping"), .string("claiming")].contains(node?["state"]))
      #expect(try run("nodes", status: 0).contains(Version.text))
      let sending = try run("status", status: 0)
      #expect(sending.hasPrefix("sending") && sending.contains("yes: 1 node claims"), "\(sending)")
      #expect(sending.contains("customer") && sending.contains("accepted"))
      let elsewhere = stage.environment.merging(["RIDEPULSE_SITE": "elsewhere"]) { $1 }
      let copy = try Command.ridepulse(["status"], elsewhere)
      #expect(copy.status == 2 && copy.output.contains("no: "), "\(copy)")
      #expect(copy.output.contains("elsewhere"), "\(copy)")

      #expect(try Command.ridepulse(["hold", "--reason", "x"], stage.environment).status == 64)
      let held = try run("hold", "--reason", "a drill", "--yes", status: 0)
      #expect(held.contains("by postgres: a drill") && held.contains("ridepulse release"))
      let before = try stage.arrivals().count
      try await stage.sql("select ridepulse.emit('waiting_fee_started', 'r1')")
      try await server.waitForLog("a drill")
      #expect(try stage.arrivals().count == before)
      #expect(try run("status", status: 2).contains("no: held since"))
      try Checkup(stage.environment).expect("pin", "failure", "ridepulse release")
      #expect(try run("release", "--yes", status: 0).contains("it was held since"))
      try await stage.settled()
      #expect(try stage.arrivals().count > before)
      #expect(try run("release", "--yes", status: 0).contains("was not held"))
      #expect(try await stage.value("select count(*) from ridepulse.pinned_apps") == "2")
      #expect(server.stop() == 0)
    }
  }
}
