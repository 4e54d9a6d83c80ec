import Base
import RideCore
import Testing

@testable import PostgresStore

@Suite struct LifecycleTests {
  private let start = ContinuousClock.now

  private func make() -> Lifecycle {
    Lifecycle(now: start, connectTimeout: .seconds(5))
  }

  @Test(
    arguments: [
      ("the first wait is short", 0, 1.0, 50),
      ("it doubles", 1, 1.0, 100),
      ("and doubles", 4, 1.0, 800),
      ("up to the longest", 7, 1.0, 2_000),
      ("and stays there, whatever comes", .max, 1.0, 2_000),
      ("full jitter: down to nothing", 7, 0.0, 0),
      ("full jitter: half", 2, 0.5, 100),
      ("a wrong random number does no harm", 0, 7.0, 50),
      ("a negative count does no harm", -1, 1.0, 50),
    ] as [(String, Int, Double, Int)])
  func backoff(rule: String, failures: Int, random: Double, milliseconds: Int) {
    let delay = Lifecycle.reconnecting.delay(failures: failures, random: random)
    #expect(delay == .milliseconds(milliseconds))
  }

  @Test func `it opens at once and gives up at the limit`() {
    var life = make()
    #expect(life.wake == start)
    #expect(life.tick(now: start) == .open)
    #expect(life.tick(now: start) == .none, "only one attempt at a time")
    #expect(life.wake == start + .seconds(5))
    #expect(life.tick(now: start + .milliseconds(4_999)) == .none)
    #expect(life.tick(now: start + .seconds(5)) == .giveUp)
  }

  @Test func `failures in a row wait longer and longer`() {
    var life = make()
    for wait in [50, 100, 200] {
      life.lost(now: start, random: 1)
      #expect(life.state == .waiting(until: start + .milliseconds(wait)))
    }
    #expect(life.tick(now: start + .milliseconds(199)) == .none)
    #expect(life.tick(now: start + .milliseconds(200)) == .open)
  }

  @Test func `R34: what was silent for a while is not trusted`() {
    var life = make()
    #expect(!life.isDoubtful(now: start + .seconds(9)), "there is nothing to doubt yet")
    _ = life.tick(now: start)
    life.opened(now: start)
    #expect(!life.isDoubtful(now: start + .milliseconds(999)))
    #expect(life.isDoubtful(now: start + .seconds(1)))
    life.heard(now: start + .seconds(9))
    #expect(!life.isDoubtful(now: start + .milliseconds(9_999)))
    #expect(life.isDoubtful(now: start + .seconds(10)))
    life.lost(now: start + .seconds(10), random: 1)
    #expect(!life.isDoubtful(now: start + .seconds(20)))
  }

  @Test func `an open connection waits for nothing`() {
    var life = make()
    _ = life.tick(now: start)
    life.opened(now: start)
    #expect(life.wake == nil)
    #expect(life.tick(now: start + .seconds(100_000)) == .none)
  }

  @Test(arguments: [
    ("one that lived has proven the server", 5, 50),
    ("one that died young counts as a failure", 4, 200),
  ])
  func loss(rule: String, seconds: Int, milliseconds: Int) {
    var life = make()
    life.lost(now: start, random: 1)
    life.lost(now: start, random: 1)
    life.opened(now: start)
    let end = start + .seconds(seconds)
    life.lost(now: end, random: 1)
    #expect(life.state == .waiting(until: end + .milliseconds(milliseconds)))
  }
}
