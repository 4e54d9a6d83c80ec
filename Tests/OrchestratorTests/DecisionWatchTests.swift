import RideCore
import Testing

@testable import Orchestrator

struct DecisionWatchTests {
  private func claims(_ names: String...) -> [RideClaim] {
    names.enumerated().map { RideClaim(rideID: RideID($1), fence: Int64($0)) }
  }

  @Test func `a decision has stalled once it has used its processor time`() {
    var deadline = DecisionDeadline()
    let turn = DecisionWatch.Turn(ride: "r", number: 1)
    let limit = DecisionDeadline.limit
    #expect(deadline.observe(turn, cpuTime: .seconds(100)) == nil)
    #expect(deadline.observe(turn, cpuTime: .seconds(100) + limit) == nil)
    #expect(deadline.observe(turn, cpuTime: .seconds(101) + limit) == "r")
  }

  @Test func `each decision has its own time, and a pause between two has none`() {
    var deadline = DecisionDeadline()
    for number in 1...20 {
      let turn = DecisionWatch.Turn(ride: "r", number: UInt64(number))
      let used = DecisionDeadline.limit * number
      #expect(deadline.observe(turn, cpuTime: used) == nil)
      #expect(deadline.observe(turn, cpuTime: used + DecisionDeadline.limit) == nil)
      #expect(deadline.observe(nil, cpuTime: used + DecisionDeadline.limit * 2) == nil)
    }
  }

  @Test func `the watch knows the ride that is decided, and those that can be released`() {
    let watch = DecisionWatch()
    #expect(watch.turn == nil)
    #expect(watch.others.isEmpty)
    watch.begin(claims("a", "b", "c"))
    #expect(watch.turn == nil)
    watch.beginTurn(0)
    let first = watch.turn
    watch.beginTurn(1)
    #expect(watch.turn?.ride == "b")
    #expect(watch.turn != first)
    #expect(watch.others.map(\.rideID) == ["a", "c"])
    watch.end()
    #expect(watch.turn == nil)
  }
}
