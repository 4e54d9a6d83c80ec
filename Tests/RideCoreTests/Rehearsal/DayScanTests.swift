import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Cores agree about whose line it is, parsed or not.
@Suite struct DayScanTests {
  @Test(arguments: [
    (#"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r1","state":"x"}}"#, "r1"),
    (#"{"at":"2026-11-21T08:00:00.5Z","event":"e","ride":"r2","data":{}}"#, "r2"),
    (#"{"at":"2026-11-21T08:00:00Z","card":{"ride":"r3","app":"a"}}"#, "r3"),
    (#"{"at":"2026-11-21T08:00:00Z","outcome":{"ride":"r4"}}"#, "r4"),
    (#"{"at":"2026-11-21T09:00:00+01:00","ride":{"id":"r5"}}"#, "r5"),
  ])
  func linesAsTheyAreWritten(_ text: String, _ ride: String) throws {
    let scan = try #require(DayScan(Array(text.utf8)))
    #expect(String(decoding: scan.ride, as: UTF8.self) == ride)
    #expect(CivilTime.exact(scan.at).hasPrefix("2026-11-21T08:00:00"))
  }

  @Test(arguments: [
    "", "{", #"{ "at": "2026-11-21T08:00:00Z", "ride": {"id": "r1"}}"#,
    #"{"at":"2026-11-21T08:00:00Z","event":"e"}"#,
    #"{"at":"2026-11-21T08:00:00Z","ride":{"state":"x","id":"r1"}}"#,
    #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r\u0031"}}"#,
    #"{"at":"2026-11-21T08:00:00Z","ride":{"id":"é"}}"#,
    #"{"at":"2026-11-21T08:00:00Z","phone":{"app":"a"}}"#,
  ])
  func otherLinesAreParsed(_ text: String) {
    #expect(DayScan(Array(text.utf8)) == nil)
  }

  /// A line that a core does not parse is still checked for its place in time.
  @Test func foreignLinesOutOfOrderAreReported() throws {
    let header = #"{"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-22T00:00:00Z"}"#
    for index in 0..<2 {
      var reader = DayReader()
      let part = DayPart(index: index, count: 2)
      _ = try reader.read(Array(header.utf8), of: part)
      _ = try reader.read(
        Array(#"{"at":"2026-11-21T08:00:01Z","ride":{"id":"r1"}}"#.utf8), of: part)
      #expect(throws: DayProblem.self) {
        _ = try reader.read(
          Array(#"{"at":"2026-11-21T08:00:00Z","ride":{"id":"r2"}}"#.utf8), of: part)
      }
    }
  }

  @Test func answersHoldAroundTheirTime() throws {
    let start = Timestamp(epochSeconds: 1_800_000_000)
    var answers = RecordedAnswers()
    func add(_ second: Int64, _ status: Int) {
      answers.add(RecordedAnswer(token: "aa", status: status), at: start + .seconds(second))
    }
    add(0, 200)
    add(100, 503)
    add(110, 200)
    add(2000, 200)
    answers.end()
    func accepts(_ second: Int64, _ token: String = "aa") -> Bool {
      answers.outcome(of: token, at: start + .seconds(second)) == .accepted
    }
    #expect(accepts(0) && accepts(80) && !accepts(95) && !accepts(100))
    #expect(accepts(101) && accepts(110) && accepts(150) && accepts(100, "bb"))
  }
}
