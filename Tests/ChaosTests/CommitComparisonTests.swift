import Testing

@testable import Chaos

/// R108: what a failover lost is told from what it must not lose.
struct CommitComparisonTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var acknowledged: Set<Int64> = []
    var present: Set<Int64> = []
    var beyond: Set<Int64> = []
    var lost: Set<Int64> = []
    var vanished: Set<Int64> = []
    var resurrected: Set<Int64> = []
  }

  static let cases = [
    Case(testDescription: "nothing happened"),
    Case(testDescription: "all is there", acknowledged: [1, 2], present: [1, 2]),
    Case(
      testDescription: "the end of the log is lost", acknowledged: [1, 2, 3], present: [1],
      beyond: [2, 3], lost: [2, 3]),
    Case(
      testDescription: "a replicated commit is absent", acknowledged: [1, 2], present: [1],
      vanished: [2]),
    Case(
      testDescription: "a lost commit is present", acknowledged: [1, 2], present: [1, 2],
      beyond: [2], resurrected: [2]),
    Case(testDescription: "others lost commits, too", acknowledged: [1], present: [1], beyond: [9]),
    Case(testDescription: "never acknowledged, and lost", beyond: [5]),
  ]

  @Test(arguments: cases) func `R108 each commit is kept, lost with the log, or a violation`(
    _ example: Case
  ) {
    let result = CommitComparison(
      example.acknowledged.map { step($0, timeline: 1) },
      present: Set(example.present.map { "\($0)" }),
      beyond: Set(example.beyond.map { CommitLog.Transaction(timeline: 1, xid: $0) }))
    #expect(result.acknowledged == example.acknowledged.count)
    #expect(ids(result.lost) == example.lost)
    #expect(ids(result.vanished) == example.vanished)
    #expect(ids(result.resurrected) == example.resurrected)
  }

  @Test func `R108 a transaction's number on another timeline is another transaction`() {
    let result = CommitComparison(
      [step(7, timeline: 2)], present: [],
      beyond: [CommitLog.Transaction(timeline: 1, xid: 7)])
    #expect(ids(result.vanished) == [7])
    #expect(result.lost.isEmpty)
  }

  @Test func `R108 a step without an answer is counted apart`() {
    var open = CommitLog.Step(id: "1", ride: "r")
    open.doubts = 1
    let result = CommitComparison(
      [open, CommitLog.Step(id: "2", ride: "r")], present: ["1"], beyond: [])
    #expect(result.acknowledged == 0)
    #expect(result.unacknowledged == 1)
    #expect(result.doubtful == 1)
    #expect(result.lost.isEmpty && result.vanished.isEmpty)
  }

  private func step(_ number: Int64, timeline: Int) -> CommitLog.Step {
    CommitLog.Step(
      id: "\(number)", ride: "r",
      transaction: CommitLog.Transaction(timeline: timeline, xid: number))
  }

  private func ids(_ steps: [CommitLog.Step]) -> Set<Int64> {
    Set(steps.compactMap { Int64($0.id) })
  }
}
