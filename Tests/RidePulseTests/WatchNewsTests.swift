import PostgresStore
import Testing

@testable import RidePulse

/// Tests of which problems of attached tables are logged and shown.
@Suite struct WatchNewsTests {
  @Test func `a problem is logged once, until it is gone`() {
    let column = WatchProblem(table: "t", column: "c", code: "missing_column")
    var row = WatchProblem(
      table: "t", column: "c", code: "bad_time", rowID: "1", count: 1, age: .zero)
    var news = ReportedProblems()
    #expect(news.new(among: [column, row]) == [column, row])
    row.count = 7
    #expect(news.new(among: [column, row]) == [])
    #expect(news.new(among: [column]) == [])
    #expect(news.new(among: [column, row]) == [row])
  }

  @Test func `each kind has words, and one of a newer schema is shown as it is`() {
    for code in WatchProblem.Kind.allCases.map(\.rawValue) + ["of_tomorrow"] {
      var probes = DatabaseState()
      let problem = WatchProblem(table: "public.t", column: "c", code: code)
      probes.watched = .known(WatchedTables(count: 1, problems: [problem]))
      let finding = DatabaseCheck.findings(probes).first { $0.name == "watch public.t" }
      #expect(finding?.standing == (problem.kind?.stopsTable == true ? .failure : .warning))
      #expect(finding?.remedy.count == 1)
    }
  }
}
