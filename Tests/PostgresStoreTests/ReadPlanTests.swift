import Testing

@testable import PostgresStore

@Suite struct ReadPlanTests {
  /// Reads rides, of which the `bad` ones cannot be read; `fits` is how many fit into one read.
  private func read(
    _ rides: [Int], bad: Set<Int> = [], fits: Int = .max
  ) -> (plan: ReadPlan<Int>, reads: [[Int]]) {
    var plan = ReadPlan(rides)
    var reads: [[Int]] = []
    while let portion = plan.next, reads.count < 1000 {
      reads.append(portion)
      if portion.contains(where: bad.contains) {
        plan.failed("bad")
      } else {
        plan.read(bytes: min(portion.count, fits), oversized: Array(portion.dropFirst(fits)))
      }
    }
    return (plan, reads)
  }

  @Test func `all at once where nothing is wrong`() {
    let (plan, reads) = read([1, 2, 3])
    #expect(reads == [[1, 2, 3]])
    #expect(plan.unreadable.isEmpty && plan.unread.isEmpty && plan.hasRead && plan.bytes == 3)
    #expect(read([]).reads.isEmpty)
  }

  @Test func `halves down to the one that can't be read`() {
    let (plan, reads) = read([1, 2, 3, 4], bad: [3])
    #expect(reads == [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]])
    #expect(plan.unreadable.map(\.ride) == [3] && plan.unreadable.map(\.reason) == ["bad"])
  }

  @Test func `what does not fit comes next, and one that never does is bad`() {
    #expect(read([1, 2, 3, 4, 5], fits: 2).reads == [[1, 2, 3, 4, 5], [3, 4, 5], [5]])
    let (plan, reads) = read([1, 2, 3], fits: 0)
    // What is not small is read again as it was, before it is read by halves.
    #expect(reads == [[1, 2, 3], [1, 2, 3], [1], [2, 3], [2], [3]])
    #expect(plan.unreadable.map(\.ride) == [1, 2, 3] && !plan.hasRead)
  }

  @Test func `small values are read first, and those of any size once that has read or failed`() {
    var plan = ReadPlan([1, 2])
    #expect(plan.size == .small)
    plan.read(bytes: 1, oversized: [1, 2])
    #expect(plan.size == .bounded && plan.next == [1, 2] && !plan.hasRead)
    var partly = ReadPlan([1, 2])
    partly.read(bytes: 1, oversized: [2])
    // Otherwise a large ride would wait for as long as each claim has a small one.
    #expect(partly.hasRead && !partly.mayStop)
    partly.read(bytes: 1, oversized: [2])
    #expect(partly.mayStop)
    var failed = ReadPlan([1, 2])
    failed.failed("bad")
    #expect(failed.size == .bounded && failed.next == [1])
  }

  @Test func `a stop leaves the rest`() {
    var plan = ReadPlan([1, 2, 3, 4])
    plan.failed("bad")
    plan.read(bytes: 2, oversized: [])
    plan.stop()
    #expect(plan.unread == [3, 4] && plan.next == nil)
  }
}
