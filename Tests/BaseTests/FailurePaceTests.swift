import Base
import Testing

@Suite("The log lines of a loop that fails") struct FailurePaceTests {
  /// Returns the seconds at which a failure in each second is logged.
  private static func logged(
    until end: Int, _ pace: inout FailurePace<String>, cause: (Int) -> String
  ) -> [Int] {
    (0..<end).filter { pace.failed(cause($0), at: .seconds($0)) }
  }

  @Test func `one cause is logged at distances that double up to an hour`() {
    var pace = FailurePace<String>()
    let seconds = Self.logged(until: 16_000, &pace) { _ in "permission denied" }
    #expect(seconds == [0, 60, 180, 420, 900, 1860, 3780, 7380, 10_980, 14_580])
  }

  @Test func `two causes by turns have their own distances`() {
    var pace = FailurePace<String>()
    let seconds = Self.logged(until: 200, &pace) { $0.isMultiple(of: 2) ? "lock" : "timeout" }
    #expect(seconds == [0, 1, 60, 61, 180, 181])
  }

  @Test func `texts that differ each time count as one cause after the eighth`() {
    var pace = FailurePace<String>()
    let seconds = Self.logged(until: 200, &pace) { "process \($0)" }
    #expect(seconds == Array(0...8) + [68, 188])
  }

  @Test func `a loop that fails and succeeds by turns is logged as one that fails`() {
    var pace = FailurePace<String>()
    var failures: [Int] = []
    var ends: [Int] = []
    for second in 0..<200 {
      if second.isMultiple(of: 2) {
        if pace.failed("lock", at: .seconds(second)) { failures.append(second) }
      } else if pace.succeeded(at: .seconds(second)) {
        ends.append(second)
      }
    }
    #expect(failures == [0, 60, 180])
    #expect(ends == [1, 61, 181])
  }

  @Test(arguments: [(70, true), (61, true), (60, false)])
  func `after a minute of success a failure is new`(second: Int, isLogged: Bool) {
    var pace = FailurePace<String>()
    let failures = [Duration.zero, .seconds(60)].map { pace.failed("lock", at: $0) }
    #expect(failures == [true, true], "the next distance is two minutes")
    let ends = [Duration.seconds(61), .seconds(62)].map { pace.succeeded(at: $0) }
    #expect(ends == [true, false])
    let again = pace.failed("lock", at: .seconds(60 + second))
    #expect(again == isLogged)
  }
}
