import RideCore
import Testing

@testable import PushClient

@Suite struct PoolStateMachineTests {
  typealias Machine = PoolStateMachine<Int>

  static func machine(_ change: (inout Machine.Settings) -> Void = { _ in }) -> Machine {
    var settings = Machine.Settings()
    change(&settings)
    return Machine(
      settings: settings,
      backoff: ConnectBackoff(base: .seconds(1), cap: .seconds(30), seed: 1))
  }

  /// The time in milliseconds after the start of the state machine.
  static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
  }

  static func load(
    _ spare: Int, inFlight: Int = 0, limit: Int = 1000, proved: Bool = true, suspect: Bool = false
  ) -> PooledConnection.Load {
    PooledConnection.Load(
      freeStreams: spare, inFlight: inFlight, limit: limit, isProved: proved, isSuspect: suspect)
  }

  /// A pool whose connection 1 is open, proved and asleep with `spare` free streams.
  static func open(spare: Int, limit: Int = 1000, _ machine: Machine = machine()) -> Machine {
    var machine = machine
    let actions = machine.enqueue([0], at: at(0))
    precondition(actions?.open == 1)
    machine.connected(1, at: at(0))
    precondition(machine.take(by: 1, load: load(1, proved: false), at: at(0)).pushes.count == 1)
    precondition(
      machine.take(by: 1, load: load(spare, limit: limit), at: at(1)).pushes.isEmpty)
    return machine
  }

  @Test("The first push opens one connection; more while it is being opened open none")
  func firstConnection() {
    var machine = Self.machine()
    #expect(machine.enqueue([1], at: Self.at(0))?.open == 1)
    let more = machine.enqueue(Array(2...5000), at: Self.at(1))
    #expect(more?.open == nil)
    #expect(more?.wake == [])
    #expect(more?.superviseAt == Self.at(9_500), "the last time for the first")
  }

  @Test("A sleeping connection is woken once, until it has asked")
  func wakeOnce() {
    var machine = Self.open(spare: 1000)
    #expect(machine.enqueue([1], at: Self.at(2))?.wake == [1])
    #expect(machine.enqueue([2], at: Self.at(3))?.wake == [])
    let taken = machine.take(by: 1, load: Self.load(1000), at: Self.at(4))
    #expect(taken.pushes.map(\.push) == [1, 2], "in order")
    #expect(machine.enqueue([3], at: Self.at(5))?.wake == [], "it asks again before it sleeps")
    #expect(machine.take(by: 1, load: Self.load(998), at: Self.at(6)).pushes.map(\.push) == [3])
    #expect(machine.take(by: 1, load: Self.load(997), at: Self.at(7)).pushes.isEmpty)
    #expect(machine.enqueue([4], at: Self.at(8))?.wake == [1])
  }

  @Test("A connection gets no more than its free streams; a full one is not woken")
  func saturated() {
    var machine = Self.open(spare: 3)
    #expect(machine.enqueue(Array(1...5), at: Self.at(2))?.wake == [1])
    #expect(
      machine.take(by: 1, load: Self.load(3), at: Self.at(3)).pushes.map(\.push) == [1, 2, 3])
    #expect(machine.take(by: 1, load: Self.load(0), at: Self.at(4)).pushes.isEmpty)
    #expect(machine.enqueue([6], at: Self.at(5))?.wake == [])
  }

  @Test(
    "Another connection where a whole connection's worth waits behind full ones",
    arguments: [(1000, 1000, 2), (1000, 999, nil), (1, 100, 2), (1, 99, nil)]
      as [(Int, Int, Int?)])
  func growth(limit: Int, queued: Int, opened: Int?) {
    var machine = Self.open(spare: 0, limit: limit)
    #expect(machine.enqueue(Array(1...queued), at: Self.at(2))?.open == opened)
  }

  @Test("Pushes that follow answers count on the streams that these have freed")
  func growthAfterAnswers() {
    var machine = Self.open(spare: 1000)
    #expect(machine.enqueue(Array(1...1000), at: Self.at(2))?.wake == [1])
    #expect(machine.take(by: 1, load: Self.load(1000), at: Self.at(3)).pushes.count == 1000)
    #expect(machine.take(by: 1, load: Self.load(0, inFlight: 1000), at: Self.at(4)).pushes == [])
    machine.willAsk(1, load: Self.load(1000), at: Self.at(5))
    let next = machine.enqueue(Array(1001...2000), at: Self.at(5))
    #expect(next?.open == nil)
    #expect(next?.wake == [], "its thread is awake")
    #expect(machine.enqueue(Array(2001...3000), at: Self.at(5))?.open == 2, "they do not fit")
    #expect(machine.take(by: 1, load: Self.load(1000), at: Self.at(6)).pushes.count == 1000)
  }

  @Test("Connections open one at a time, each proved before the next, up to the most")
  func growthByOne() {
    var machine = Self.open(spare: 0, Self.machine { $0.maxConnections = 2 })
    #expect(machine.enqueue(Array(1...9000), at: Self.at(2))?.open == 2)
    #expect(machine.enqueue([9001], at: Self.at(3))?.open == nil, "one is being opened")
    machine.connected(2, at: Self.at(4))
    let first = machine.take(by: 2, load: Self.load(1, limit: 1, proved: false), at: Self.at(5))
    #expect(first.pushes.count == 1)
    #expect(first.actions.open == nil, "not proved yet")
    let second = machine.take(by: 2, load: Self.load(1000), at: Self.at(6))
    #expect(second.pushes.count == 1000)
    #expect(second.actions.open == nil, "two is the most")
  }

  @Test("A new connection without an answer does not hold up another for ever")
  func patience() {
    var machine = Self.machine()
    #expect(machine.enqueue([1, 2], at: Self.at(0))?.open == 1)
    machine.connected(1, at: Self.at(0))
    _ = machine.take(by: 1, load: Self.load(1, proved: false), at: Self.at(0))
    let queued = machine.take(
      by: 1, load: Self.load(0, inFlight: 1, proved: false), at: Self.at(1))
    #expect(queued.actions.open == nil)
    #expect(queued.actions.superviseAt == Self.at(5000))
    #expect(machine.supervise(at: Self.at(5000)).actions.open == 2)
  }

  @Test("Failed connects back off with the seed's jitter, and pushes end with the last problem")
  func backoff() {
    var machine = Self.machine { $0.requestTimeout = .seconds(600) }
    var expected = ConnectBackoff(base: .seconds(1), cap: .seconds(30), seed: 1)
    var now = Self.at(0)
    #expect(machine.enqueue([1], at: now)?.open == 1)
    for id in 1...12 {
      let wait = expected.failed()
      let (reported, actions) = machine.ended(id, problem: "refused", at: now)
      #expect(reported == wait)
      #expect(actions.open == nil)
      #expect(actions.superviseAt == now + wait)
      #expect(machine.enqueue([id], at: now)?.open == nil, "a new push does not cut the wait")
      now = now + wait
      #expect(machine.supervise(at: now).actions.open == id + 1)
    }
    _ = machine.ended(13, problem: "no route", at: now)
    let rejected = machine.supervise(at: now + .seconds(700)).rejected
    #expect(rejected.map(\.cause).allSatisfy { $0 == .noConnection("no route") })
    #expect(rejected.count == 13)
    #expect(machine.enqueue([14], at: now + .seconds(700))?.open == 14)
    // An open connection that is lost stops taking pushes first.
    machine.connected(14, at: now + .seconds(700))
    _ = machine.leaving(
      14, problem: "unknown ca", refusesCertificate: true, at: now + .seconds(700))
    _ = machine.ended(14, problem: "unknown ca", at: now + .seconds(700))
    let refused = machine.supervise(at: now + .seconds(1400)).rejected
    #expect(refused.map(\.cause) == [.certificateRefused("unknown ca")])
  }

  @Test("A server that drops each connection after one push gets no connection for each push")
  func shortLives() {
    var machine = Self.open(spare: 10)
    let actions = machine.leaving(1, problem: "GOAWAY", at: Self.at(20))
    #expect(actions.open == nil)
    let next = machine.enqueue([1], at: Self.at(20))
    #expect(next?.open == nil)
    #expect(next?.superviseAt.map { $0 > Self.at(20) } == true)
  }

  @Test("A connection that lived is replaced at once, and only for a push")
  func longLife() {
    var machine = Self.open(spare: 10)
    #expect(machine.leaving(1, problem: "GOAWAY", at: Self.at(60_000)).open == nil)
    #expect(machine.enqueue([1], at: Self.at(60_000))?.open == 2)
  }

  @Test("Pushes that are sent again go to the front, in their old order")
  func requeueOrder() {
    var machine = Self.open(spare: 3)
    _ = machine.enqueue(Array(1...6), at: Self.at(2))
    let taken = machine.take(by: 1, load: Self.load(3), at: Self.at(3)).pushes
    let back = taken.reversed().map { (queued: $0, cause: UnsentCause.refusedStream) }
    #expect(machine.requeue(Array(back), at: Self.at(4)).rejected.isEmpty)
    let again = machine.take(by: 1, load: Self.load(6), at: Self.at(5)).pushes
    #expect(again.map(\.push) == [1, 2, 3, 4, 5, 6])
    #expect(again.map(\.resends) == [1, 1, 1, 0, 0, 0])
    #expect(again.map(\.deadline) == Array(repeating: Self.at(10_002), count: 6))
  }

  @Test("R2: a push is sent again three times at most, and never after its deadline")
  func requeueLimit() {
    var machine = Self.open(spare: 1)
    _ = machine.enqueue([1], at: Self.at(2))
    for round in 1...4 {
      let taken = machine.take(by: 1, load: Self.load(1), at: Self.at(3)).pushes
      let back = taken.map { (queued: $0, cause: UnsentCause.goAway(reason: "Shutdown")) }
      let rejected = machine.requeue(back, at: Self.at(4)).rejected
      #expect(rejected.map(\.cause) == (round < 4 ? [] : [.goAway(reason: "Shutdown")]))
    }
    _ = machine.enqueue([2], at: Self.at(10))
    let late = machine.take(by: 1, load: Self.load(1), at: Self.at(11)).pushes
    let back = late.map { (queued: $0, cause: UnsentCause.refusedStream) }
    #expect(machine.requeue(back, at: Self.at(10_010)).rejected.map(\.push) == [2])
  }

  @Test("A push that waits for a stream until hardly any time is left was queued too long")
  func queuedTooLong() {
    var machine = Self.open(spare: 0)
    _ = machine.enqueue([1], at: Self.at(2))
    _ = machine.enqueue([2], at: Self.at(3))
    #expect(machine.supervise(at: Self.at(9_501)).rejected.isEmpty)
    let rejected = machine.supervise(at: Self.at(9_502)).rejected
    #expect(rejected.map(\.push) == [1])
    #expect(rejected.map(\.cause) == [.queuedTooLong])
  }

  @Test("R3: while a ping's answer is late, pushes go to another connection")
  func suspect() {
    var machine = Self.open(spare: 10)
    _ = machine.take(by: 1, load: Self.load(0, suspect: true), at: Self.at(60_000))
    #expect(machine.enqueue([1], at: Self.at(60_001))?.open == 2)
  }

  @Test("A spare connection that is idle for long leaves; the last one stays")
  func shrink() {
    var machine = Self.open(spare: 0)
    #expect(machine.enqueue(Array(1...1000), at: Self.at(2))?.open == 2)
    machine.connected(2, at: Self.at(3))
    _ = machine.take(by: 2, load: Self.load(1000), at: Self.at(4))
    #expect(machine.take(by: 2, load: Self.load(1000), at: Self.at(300_003)).retires == nil)
    #expect(machine.take(by: 2, load: Self.load(1000), at: Self.at(300_004)).retires == "idle")
    #expect(machine.take(by: 1, load: Self.load(1000), at: Self.at(900_000)).retires == nil)
  }

  @Test("After the close no push is accepted, no connection opened, no push sent again")
  func closed() {
    var machine = Self.open(spare: 1)
    _ = machine.enqueue([1, 2, 3], at: Self.at(2))
    let taken = machine.take(by: 1, load: Self.load(1), at: Self.at(3)).pushes
    #expect(machine.close() == [2, 3])
    #expect(machine.enqueue([4], at: Self.at(4)) == nil)
    let back = taken.map { (queued: $0, cause: UnsentCause.refusedStream) }
    let returned = machine.requeue(back, at: Self.at(5))
    #expect(returned.rejected.map(\.cause) == [.closed])
    #expect(returned.actions == Machine.Actions())
    #expect(machine.statistics().queued == 0)
  }

  @Test func `R99: a retired pool gives up its queue, and its connections leave`() {
    var machine = Self.open(spare: 1)
    _ = machine.enqueue([1, 2, 3], at: Self.at(2))
    let taken = machine.take(by: 1, load: Self.load(1), at: Self.at(3)).pushes
    let retired = machine.retire()
    #expect(retired.moved.map(\.push) == [2, 3])
    #expect(retired.actions.wake == [1])
    #expect(machine.enqueue([4], at: Self.at(4)) == nil)
    #expect(machine.adopt(retired.moved, at: Self.at(4)) == nil)
    let leaving = machine.take(by: 1, load: Self.load(1), at: Self.at(5))
    #expect(leaving.retires != nil && leaving.pushes.isEmpty)
    // A push that APNs did not process leaves by the new pool, a hopeless one ends here.
    let back = taken.map { (queued: $0, cause: UnsentCause.refusedStream) }
    let returned = machine.requeue(back, at: Self.at(6))
    #expect(returned.moved.map(\.push) == [1] && returned.moved.map(\.resends) == [1])
    #expect(returned.rejected.isEmpty && returned.actions == Machine.Actions())
    #expect(machine.requeue(back, at: Self.at(10_010)).rejected.map(\.cause) == [.refusedStream])
    #expect(machine.ended(1, problem: nil, at: Self.at(7)).1.open == nil)
  }

  @Test func `R99: pushes of a retired pool keep deadline and place in the new one`() {
    var old = Self.open(spare: 0)
    _ = old.enqueue([1, 2], at: Self.at(2))
    let moved = old.retire().moved
    var new = Self.machine()
    #expect(new.enqueue([3], at: Self.at(9_000))?.open == 1)
    #expect(new.adopt(moved, at: Self.at(9_001)) != nil)
    _ = new.enqueue([4], at: Self.at(9_002))
    let (rejected, _) = new.supervise(at: Self.at(10_003))
    #expect(rejected.map(\.push) == [1, 2], "their ten seconds began in the old pool")
    new.connected(1, at: Self.at(10_004))
    #expect(new.take(by: 1, load: Self.load(5), at: Self.at(10_004)).pushes.map(\.push) == [3, 4])
  }
}
