import Base
import RideCore
import Testing

@testable import Orchestrator

/// Tests the policy against a model of a store: which rides it refuses, and whether it works at
/// all.
@Suite struct SettlePolicyTests {
  /// Runs the policy without waiting, and records the steps as texts.
  private struct Play {
    var policy = SettlePolicy<Int>(
      backoff: Backoff(first: .milliseconds(100), longest: .seconds(5)))
    var now: Duration = .zero
    var steps: [String] = []
    var settled: [Int] = []
    var parked: [Int] = []
    var wasHalted = false

    /// Runs until there is nothing to settle or `limit` steps were taken.
    mutating func run(
      _ rides: [Int], limit: Int = 400, general: (Int) -> StoreFailure? = { _ in nil },
      refuses: ([Int]) -> StoreFailure? = { _ in nil }, locked: (Int) -> Bool = { _ in false },
      parks: Bool = true
    ) {
      policy.add(rides)
      for count in 0..<limit {
        switch policy.next(at: now) {
        case .idle: return
        case .wait(let until):
          steps.append("wait")
          now = until
        case .settle(let some):
          steps.append("settle \(some.count)")
          if let failure = general(count) ?? refuses(some) {
            policy.failed(failure, at: now, random: 1)
          } else {
            settled += policy.settled(at: now, isLocked: locked)
          }
        case .check:
          steps.append("check")
          if let failure = general(count) {
            policy.checkFailed(failure, at: now, random: 1)
          } else {
            policy.checked(at: now)
          }
        case .park(let ride, _):
          steps.append("park \(ride)")
          if parks {
            parked += policy.parked()
          } else {
            policy.parkFailed(StoreFailure(.refused, "no"), at: now, random: 1)
          }
        }
        wasHalted = wasHalted || policy.halt != nil
      }
    }
  }

  private static let refused = StoreFailure(.refused, "P0001")

  @Test func `a settlement that the store accepts ends at once`() {
    var play = Play()
    play.run([1, 2, 3])
    #expect(play.steps == ["settle 3"])
    #expect(play.settled == [1, 2, 3] && !play.wasHalted && play.policy.halt == nil)
  }

  @Test func `a server error is tried twice, checked, and halved down to the one ride`() {
    var play = Play()
    play.run(Array(1...4), refuses: { $0.contains(3) ? Self.refused : nil })
    #expect(
      play.steps == [
        "settle 4", "wait", "settle 4", "check", "settle 2", "settle 2", "settle 1", "wait",
        "settle 1", "check", "park 3", "settle 1",
      ])
    #expect(play.settled.sorted() == [1, 2, 4] && play.parked == [3])
    #expect(play.wasHalted && play.policy.halt == nil)
  }

  @Test func `bad values need no second try, and a check all the same`() {
    var play = Play()
    let values = StoreFailure(.values, "23514")
    play.run([1, 2], refuses: { $0.contains(2) ? values : nil })
    #expect(play.steps == ["settle 2", "check", "settle 1", "settle 1", "check", "park 2"])
    #expect(play.settled == [1] && play.parked == [2])
  }

  @Test func `a fault that is general parks nothing, and is waited for`() {
    for cause in [StoreFailure.Cause.refused, .values, .timeout, .conflict, .unavailable] {
      var play = Play()
      play.run(Array(1...8), general: { $0 < 60 ? StoreFailure(cause, "no") : nil })
      #expect(play.parked.isEmpty, "\(cause)")
      #expect(play.settled.sorted() == Array(1...8), "\(cause)")
      #expect(play.policy.halt == nil, "\(cause)")
    }
  }

  @Test func `the waits grow to five seconds and no further`() {
    var play = Play()
    play.run([1], limit: 40, general: { _ in StoreFailure(.unavailable, "away") })
    #expect(play.policy.halt?.since == .zero)
    // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, and 5 s from there on; a wait follows each of the 20 attempts.
    #expect(play.now == .milliseconds(6300) + .seconds(5) * 14)
  }

  @Test func `a fault that becomes general while rides are being parked parks no more`() {
    var play = Play()
    // The check works once; after that nothing works for a while.
    play.run(
      Array(1...4), general: { (4..<80).contains($0) ? Self.refused : nil },
      refuses: { $0.contains(2) ? Self.refused : nil })
    #expect(play.parked == [2])
    #expect(play.settled.sorted() == [1, 3, 4])
  }

  @Test func `all of them bad: each is parked by itself, without long waits`() {
    var play = Play()
    play.run(Array(1...32), limit: 2000, refuses: { _ in Self.refused })
    #expect(play.parked.sorted() == Array(1...32))
    #expect(play.now < .seconds(10), "\(play.now)")
  }

  @Test func `a ride that can't be parked halts, and is not let go`() {
    var play = Play()
    play.run([1], limit: 40, refuses: { _ in Self.refused }, parks: false)
    #expect(play.parked.isEmpty && play.policy.rides == [1] && play.policy.halt != nil)
  }

  @Test func `time-outs halve at once; one ride alone is given more time before it is parked`() {
    var play = Play()
    let slow = StoreFailure(.timeout, "57014")
    play.run(Array(1...8), refuses: { $0.count > 2 || $0.contains(5) ? slow : nil })
    #expect(Array(play.steps.prefix(4)) == ["settle 8", "settle 4", "settle 2", "settle 2"])
    #expect(play.settled.sorted() == [1, 2, 3, 4, 6, 7, 8] && play.parked == [5])
    #expect(play.steps.count { $0 == "settle 1" } >= 6)
  }

  @Test func `a locked ride waits alone, halts nothing and is never parked`() {
    var play = Play()
    play.run([1, 2, 3], limit: 20, locked: { $0 == 2 })
    #expect(play.settled == [1, 3] && play.parked.isEmpty)
    #expect(!play.wasHalted && play.policy.hasDeferred)
    play.run([4])
    #expect(play.settled.contains(4) && play.settled.contains(2))
  }

  @Test func `a conflict that lasts is found, and waits alone as well`() {
    var play = Play()
    let conflict = StoreFailure(.conflict, "55P03")
    play.run(Array(1...4), limit: 60, refuses: { $0.contains(4) ? conflict : nil })
    #expect(play.settled.sorted() == [1, 2, 3] && play.parked.isEmpty)
    #expect(play.policy.halt == nil && play.policy.hasDeferred)
    play.run([5], limit: 4)
    #expect(play.settled.contains(5))
  }

  @Test func `a stop settles waiting rides at once`() {
    var play = Play()
    play.run([1], limit: 20, general: { _ in StoreFailure(.unavailable, "away") })
    guard case .wait = play.policy.next(at: play.now - .seconds(1)) else {
      Issue.record("it does not wait")
      return
    }
    play.policy.makeAllDue()
    guard case .settle(let rides) = play.policy.next(at: play.now - .seconds(1)) else {
      Issue.record("it waits on")
      return
    }
    #expect(rides == [1])
  }
}

@Suite struct BatchSizeTests {
  private enum Step { case timedOut(Int), worked(Int, times: Int) }

  private static let rows: [(String, [Step], Int)] = [
    ("nothing has happened", [], 500),
    ("a time-out halves", [.timedOut(500)], 250),
    ("what was asked for counts, not what was allowed", [.timedOut(40)], 20),
    ("down to one", [.timedOut(3), .timedOut(1), .timedOut(1)], 1),
    ("some that worked are too few", [.timedOut(500), .worked(250, times: 7)], 250),
    ("enough of them double", [.timedOut(500), .worked(250, times: 8)], 500),
    ("no further than that", [.timedOut(500), .worked(500, times: 80)], 500),
    ("smaller ones prove nothing", [.timedOut(500), .worked(249, times: 80)], 250),
    (
      "a time-out between them counts anew",
      [.timedOut(500), .worked(250, times: 7), .timedOut(250), .worked(125, times: 7)], 125
    ),
    ("a step at a time", [.timedOut(4), .worked(2, times: 8), .worked(4, times: 8)], 8),
  ]

  @Test(arguments: rows.indices)
  func `how many rides a statement takes`(index: Int) {
    let (name, steps, size) = Self.rows[index]
    var batch = BatchSize(maximum: 500)
    for step in steps {
      switch step {
      case .timedOut(let count): batch.timedOut(count)
      case .worked(let count, let times): for _ in 0..<times { batch.worked(count) }
      }
    }
    #expect(batch.size == size, "\(name)")
  }
}
