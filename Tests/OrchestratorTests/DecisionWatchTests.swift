import RideCore
import Testing

@testable import Orchestrator

struct DecisionWatchTests {
  private func claims(_ names: String...) -> [RideClaim] {
    names.enumerated().map { RideClaim(rideID: RideID($1), fence: Int64($0)) }
  }

  @Test func `a decision has stalled once it has used its time, of the processor too`() {
    var deadline = DecisionDeadline()
    let turn = DecisionWatch.Turn(ride: "r", number: 1)
    let limit = DecisionDeadline.limit
    let start = Duration.seconds(100)
    #expect(deadline.observe(turn, cpuTime: start, uptime: start) == nil)
    #expect(deadline.observe(turn, cpuTime: start + limit, uptime: start + limit) == nil)
    // A machine that is starved, and threads that use several processors.
    #expect(deadline.observe(turn, cpuTime: start, uptime: start + limit * 2) == nil)
    #expect(deadline.observe(turn, cpuTime: start + limit * 2, uptime: start + limit / 2) == nil)
    #expect(deadline.observe(turn, cpuTime: start + limit * 2, uptime: start + limit * 2) == turn)
  }

  @Test func `nothing of a claim is sent once its decision has stalled`() {
    let watch = DecisionWatch()
    watch.begin(claims("a", "b"))
    watch.beginTurn(0)
    let first = watch.turn
    watch.beginTurn(1)
    #expect(first.map(watch.abandon) == false, "it has returned")
    #expect(!watch.isAbandoned)
    #expect(watch.turn.map(watch.abandon) == true)
    #expect(watch.isAbandoned)
    watch.end()
    #expect(watch.isAbandoned)
  }

  @Test func `each decision has its own time, and a pause between two has none`() {
    var deadline = DecisionDeadline()
    for number in 1...20 {
      let turn = DecisionWatch.Turn(ride: "r", number: UInt64(number))
      let used = DecisionDeadline.limit * number
      let next = used + DecisionDeadline.limit
      #expect(deadline.observe(turn, cpuTime: used, uptime: used) == nil)
      #expect(deadline.observe(turn, cpuTime: next, uptime: next) == nil)
      #expect(deadline.observe(nil, cpuTime: next * 2, uptime: next * 2) == nil)
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
