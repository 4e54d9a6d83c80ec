import Testing

@testable import APNSSimulator

@Suite struct TimersTests {
  @Test func `events leave by time, then by arrival`() {
    var timers = Timers<String>()
    for (event, time) in [("d", 9), ("a", 1), ("b", 5), ("c", 5), ("z", 50)] {
      timers.add(event, at: time)
    }
    var left: [String] = []
    while let event = timers.takeDue(at: 10) { left.append(event) }
    #expect(left == ["a", "b", "c", "d"])
    #expect(timers.nextDeadline == 50)
  }
}
