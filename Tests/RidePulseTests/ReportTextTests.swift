import Base
import Foundation
import RideCore
import SystemSupport
import Testing
import TestSupport

@testable import RidePulse

/// Times, names and lines as reports show them.
@Suite struct ReportTextTests {
  private static let evening = Timestamp(epochSeconds: 1_780_352_400)

  @Test func `U12: a time of another day has its date`() throws {
    let zone = try #require(ZoneTimes(identifier: "Europe/Berlin"))
    let clock = StoryClock(zone: zone, start: Self.evening)
    // 00:20 in Berlin, the same day in UTC.
    #expect(clock(Self.evening) == "00:20:00")
    #expect(clock(Self.evening - .seconds(1800)) == "2026-06-01 23:50:00")
    #expect(clock.at(Self.evening - .seconds(1800))(Self.evening) == "2026-06-02 00:20:00")
    #expect(
      CivilTime.clock(Self.evening + .seconds(86_400), zone, nextTo: Self.evening)
        == "2026-06-03 00:20:00 +02:00")
    #expect(CivilTime.clock(Self.evening, nil, nextTo: Self.evening) == "22:20:00 +00:00")
  }

  @Test func `U12: a time in a message is a time`() {
    #expect("since \(Self.evening)" == "since 2026-06-01T22:20:00Z")
    #expect("\(Self.evening + .milliseconds(250))" == "2026-06-01T22:20:00.250000Z")
  }

  @Test func `U12: the line that ends a command is JSON next to --log-format json`() throws {
    let arguments = try Arguments(
      ["--log-format", "json"], of: try #require(Commands.named("serve")).form)
    let line = LogWriter(arguments).lastLine("no \"database\"", at: Self.evening)
    #expect(
      line
        == #"{"error":"no \"database\"","event":"command_failed","level":"error","message":"Command failed","time":"2026-06-01T22:20:00.000Z"}"#
    )
    let plain = try Arguments([], of: try #require(Commands.named("serve")).form)
    #expect(LogWriter(plain).lastLine("no") == "ridepulse: no")
  }

  @Test func `U17: in JSON a number is a number, in text a duration has its unit`() {
    let fields: [(String, any LogValue)] = [
      ("rides", 12), ("after", Duration.milliseconds(1500)), ("error", "12"),
    ]
    func line(_ format: LogWriter.Format) -> String {
      LogWriter.line(
        format, at: Self.evening, level: .info, event: .claimRecovered, fields: fields)
    }
    #expect(
      line(.json)
        == #"{"after":1.5,"error":"12","event":"claim_recovered","level":"info","message":"Claim succeeded again","rides":12,"time":"2026-06-01T22:20:00.000Z"}"#
    )
    #expect(
      line(.text)
        == #"2026-06-01T22:20:00.000Z INFO Claim succeeded again rides=12 after="1.5 seconds" error=12"#
    )
  }

  @Test func `U17: each line for the journal begins with its priority`() throws {
    var writer = LogWriter(try Arguments([], of: try #require(Commands.named("serve")).form))
    #expect(writer.prioritized("a\nb", .warning) == "a\nb")
    writer.hasPriorities = true
    #expect(writer.prioritized("a\nb", .warning) == "<4>a\n<4>b")
    #expect(Log.Level.allCases.map { writer.prioritized("", $0) } == ["<7>", "<6>", "<4>", "<3>"])
  }

  @Test(arguments: [("", true), ("0", false)])
  func `U17: the journal is standard error only if both are one file`(
    _ digit: String, _ isJournal: Bool
  ) throws {
    let folder = try ScratchFolder.create("journal")
    defer { ScratchFolder.remove(folder) }
    let script = #"""
      exec 2> "$1"
      JOURNAL_STREAM="$(stat --dereference --format %d:%i "$1")$2" "$3" preview --story /nope.yaml \
        --schedules "$4"
      """#
    _ = try Command.run(
      "/bin/sh",
      [
        "-c", script, "sh", "\(folder)/err", digit, try Command.ridepulse,
        Project.path("Tests/RidePulseTests/Golden/story-rules"),
      ])
    let errors = try String(contentsOfFile: "\(folder)/err", encoding: .utf8)
    #expect(errors.hasPrefix(isJournal ? "<3>ridepulse: " : "ridepulse: "), "\(errors)")
  }

  @Test(arguments: ["", "8", "8:", "8:x", "8:1:2", "-1:4"])
  func `U17: a stream that is not DEVICE:INODE is none`(_ text: String) {
    #expect(JournalStream(["JOURNAL_STREAM": text]) == nil)
  }

  @Test func `U12: the process's last line, too`() throws {
    let rules = Project.path("Tests/RidePulseTests/Golden/story-rules")
    let result = try Command.ridepulse(
      ["preview", "--story", "/nope.yaml", "--schedules", rules, "--log-format", "json"])
    #expect(result.status == 1)
    let last = try #require(JSONValue(json: result.errors.utf8), "\(result.errors)")
    #expect(last.value(at: ["level"]) == .string("error"))
    guard case .string(let error)? = last.value(at: ["error"]) else {
      Issue.record("\(last)")
      return
    }
    #expect(error.contains("/nope.yaml"))
  }

  @Test(
    arguments: [
      ("AT_PICKUP", "atPickup"), ("CANCELLED_BY_CUSTOMER", "cancelledByCustomer"),
      ("PICKUP", "pickup"), ("at_pickup", "atPickup"), ("URLOfMap", "urlOfMap"),
      ("map_URL", "mapURL"), ("etaEpoch", "etaEpoch"), ("ETA_2", "eta2"), ("ÜBER_UNS", "überUns"),
    ])
  func `U12: names of words in capitals`(_ word: String, _ expected: String) {
    var names = NameScope()
    #expect(names.property(word) == expected)
  }
}
