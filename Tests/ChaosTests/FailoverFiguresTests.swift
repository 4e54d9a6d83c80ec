import Testing

@testable import Chaos

/// R108: the figures of each failover.
struct FailoverFiguresTests {
  @Test func `R108 commits, verdicts and repeats belong to the failover that follows them`() {
    let failovers = [
      failover(from: 100, writable: 120, redundant: 130),
      failover(from: 200, writable: 221, redundant: 240),
    ]
    let steps = [90, 101, 131, 205, 300].map { step(at: $0) }
    let figures = FailoverFigures.of(
      failovers, steps: steps, lost: [steps[1]], verdicts: [99.5, 99, 121, 122, 201, 224, 225],
      repeats: [99, 150, 204])
    #expect(figures.map(\.acknowledged) == [2, 3])
    #expect(figures.map(\.lost) == [1, 0])
    #expect(figures.map(\.verdicts) == [4, 3])
    #expect(figures.map(\.repeats) == [1, 1])
  }

  @Test func `R108 a failover without any verdict has no gap`() {
    let figures = FailoverFigures.of(
      [failover(from: 100, writable: 120, redundant: 130)], steps: [], lost: [], verdicts: [],
      repeats: [])
    #expect(figures.map(\.gap) == [0])
  }

  private func failover(from: Double, writable: Double, redundant: Double) -> Failover {
    var failover = Failover(kind: .kill, timeline: 1)
    failover.from = from
    failover.writableAt = writable
    failover.redundantAt = redundant
    return failover
  }

  private func step(at: Double) -> CommitLog.Step {
    CommitLog.Step(
      id: "\(at)", ride: "r", transaction: CommitLog.Transaction(timeline: 1, xid: 1), at: at)
  }
}
