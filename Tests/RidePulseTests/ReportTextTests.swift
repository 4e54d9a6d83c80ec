import Base
import RideCore
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
        == #"{"error":"no \"database\"","level":"error","message":"Command failed","time":"2026-06-01T22:20:00.000Z"}"#
    )
    let plain = try Arguments([], of: try #require(Commands.named("serve")).form)
    #expect(LogWriter(plain).lastLine("no") == "ridepulse: no")
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
