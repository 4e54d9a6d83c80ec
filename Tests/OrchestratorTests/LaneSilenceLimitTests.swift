import Base
import RideCore
import Testing

@testable import Orchestrator

@Suite("How long a lane may be without an answer") struct LaneSilenceLimitTests {
  private static let lane = PushLane(network: .android, app: .customer)

  /// The latencies of answers, the seconds between them, and the limit afterwards.
  private static let histories: [([Double], every: Double, limit: Double)] = [
    ([4], 10, 6), ([9], 10, 10), ([4] + Array(repeating: 1, count: 9), 100, 6),
    ([4] + Array(repeating: 1, count: 10), 100, 2),
    // Ten at once say little about a service that was slow a moment ago.
    ([4] + Array(repeating: 1, count: 50), 0.1, 6),
    // The slowest of the others takes its place.
    ([4, 3] + Array(repeating: 1, count: 9), 100, 4.5),
    (Array(repeating: 2.5, count: 50), 120, 3.75),
  ]

  @Test(arguments: histories.indices)
  func `a slow answer counts for a minute and until ten faster ones came`(index: Int) {
    let (latencies, interval, limit) = Self.histories[index]
    var silence = LaneSilence()
    for (number, latency) in latencies.enumerated() {
      let at = Duration.seconds(Double(number) * interval + 10)
      silence.answered(sentAt: at - .seconds(latency), at: at)
    }
    #expect(silence.limit == .seconds(limit))
  }

  @Test func `a slow service with a burst every two minutes never pauses`() {
    var lanes = Lanes()
    for start in stride(from: 0.0, to: 1200, by: 120) {
      let open = [LaneSilenceTests.push(start, ticket: 1), LaneSilenceTests.push(start, ticket: 2)]
      for quarter in 0..<10 {
        let uptime = start + Double(quarter) / 4
        let (changes, silent) = lanes.checkSilence(
          open, at: .seconds(uptime), now: LaneSilenceTests.at(uptime))
        #expect(changes.isEmpty && silent.isEmpty)
      }
      for _ in open {
        _ = lanes.record(
          .accepted, of: Self.lane, to: .card, at: LaneSilenceTests.at(start + 2.5),
          times: (.seconds(start), .seconds(start + 2.5)))
      }
    }
  }

  /// The uptimes of checks, and whether each looks for silent lanes.
  private static let checks: [([Double], [Bool])] = [
    ([10, 10.25, 10.5], [true, true, true]),
    ([10, 11, 12], [true, true, true]),
    ([10, 17, 17.25], [true, false, true]),
  ]

  @Test(arguments: checks.indices)
  func `no lane is silent because this process stood still`(index: Int) {
    var lanes = LaneSilenceTests.lanes(answered: (0, 0.1))
    let (uptimes, checked) = Self.checks[index]
    #expect(uptimes.map { lanes.beginSilenceCheck(at: .seconds($0)) } == checked)
  }

  /// When pushes were sent, how long this node had them in between, and whether the lane pauses at 12.
  private static let holds: [(held: Double, pauses: Bool)] = [(0, true), (0.1, false), (5, false)]

  @Test(arguments: holds.indices)
  func `the time in which a recipient is read is no silence`(index: Int) {
    let (held, pauses) = Self.holds[index]
    var lanes = LaneSilenceTests.lanes(answered: (0, 0.1))
    let open = [UInt64(1), 2].map { ticket in
      var push = LaneSilenceTests.push(10, ticket: ticket)
      push.held = .seconds(held)
      return push
    }
    let (changes, silent) = lanes.checkSilence(open, at: .seconds(12), now: LaneSilenceTests.at(12))
    #expect(changes.isEmpty == !pauses && silent.isEmpty == !pauses)
  }

  @Test func `a replaced credential has time for its connection and token until its first answer`()
  {
    var silence = LaneSilence()
    silence.answered(sentAt: .zero, at: .seconds(0.1))
    silence.restart(at: .seconds(10))
    let limits = [(9.9, 10.5), (11, 12), (12, 12.1)].map { (sentAt: Double, at: Double) in
      silence.answered(sentAt: .seconds(sentAt), at: .seconds(at))
      return silence.limit
    }
    // The first is an answer to its predecessor.
    #expect(limits == [LaneSilence.firstLimit, LaneSilence.limit, LaneSilence.limit])
  }
}
