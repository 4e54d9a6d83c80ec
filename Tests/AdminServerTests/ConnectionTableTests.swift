import SystemSupport
import Testing

@testable import AdminServer

@Suite struct ConnectionTableTests {
  private let one = PeerNetwork(1)
  private let other = PeerNetwork(2)
  private let start = ContinuousClock.now

  private var limits: ConnectionTable.Limits {
    .init(
      connections: 4, waitingPerNetwork: 3, busy: 2, busyPerNetwork: 1, request: .seconds(10),
      nextRequest: .seconds(30), answer: .seconds(60))
  }

  /// A reference to a table, so that mutating calls are possible within an expectation.
  private final class Asked {
    var table: ConnectionTable

    init(_ limits: ConnectionTable.Limits) { table = ConnectionTable(limits) }

    func open(_ id: Int, from network: PeerNetwork, now: ContinuousClock.Instant) -> [Int] {
      table.open(id, from: network, now: now)
    }
    func begin(_ id: Int, isVital: Bool) -> Bool { table.begin(id, isVital: isVital) }
    func answer(_ id: Int, isStream: Bool, now: ContinuousClock.Instant) {
      table.answer(id, isStream: isStream, now: now)
    }
    func finish(_ id: Int, now: ContinuousClock.Instant) { table.finish(id, now: now) }
    func close(_ id: Int) { table.close(id) }
    func expire(now: ContinuousClock.Instant) -> [Int] { table.expire(now: now) }
  }

  @Test func `a network that holds too many loses its own oldest one`() {
    let table = Asked(limits)
    #expect(table.open(1, from: one, now: start).isEmpty)
    #expect(table.open(2, from: other, now: start).isEmpty)
    #expect(table.open(3, from: one, now: start).isEmpty)
    #expect(table.open(4, from: one, now: start).isEmpty)
    #expect(table.open(5, from: one, now: start) == [1])
    #expect(table.open(6, from: one, now: start) == [3], "1 is ending already")
  }

  @Test func `where all connections are taken, who holds the most gives one up`() {
    let table = Asked(limits)
    for id in 1...3 { _ = table.open(id, from: one, now: start) }
    _ = table.open(4, from: other, now: start)
    #expect(table.open(5, from: PeerNetwork(3), now: start) == [1])
    #expect(table.open(6, from: other, now: start) == [2])
  }

  @Test func `a request that is being answered keeps its place`() {
    let table = Asked(limits)
    for id in 1...3 { _ = table.open(id, from: one, now: start) }
    #expect(table.begin(1, isVital: false))
    #expect(!table.begin(2, isVital: false), "one of a network at a time")
    #expect(table.begin(2, isVital: true), "a probe always is")
    #expect(table.open(4, from: one, now: start).isEmpty)
    #expect(table.open(5, from: one, now: start) == [3])
    #expect(!table.begin(3, isVital: true), "it is ending")
    #expect(!table.begin(9, isVital: true), "nobody knows it")
  }

  @Test func `so many requests are answered at once`() {
    let table = Asked(limits)
    _ = table.open(1, from: one, now: start)
    _ = table.open(2, from: other, now: start)
    _ = table.open(3, from: PeerNetwork(3), now: start)
    #expect(table.begin(1, isVital: false) && table.begin(2, isVital: false))
    #expect(!table.begin(3, isVital: false))
    table.answer(1, isStream: false, now: start)
    #expect(!table.begin(3, isVital: false), "the answer is on its way")
    table.finish(1, now: start)
    #expect(table.begin(3, isVital: false))
    table.close(2)
    #expect(table.begin(1, isVital: false))
  }

  @Test func `time counts in all, and not from the last byte`() {
    let table = Asked(limits)
    for id in 1...4 { _ = table.open(id, from: PeerNetwork(UInt64(id)), now: start) }
    _ = table.begin(1, isVital: true)
    _ = table.begin(2, isVital: true)
    table.answer(2, isStream: true, now: start)
    _ = table.begin(3, isVital: true)
    table.answer(3, isStream: false, now: start)
    #expect(table.expire(now: start + .seconds(9)) == [])
    #expect(table.expire(now: start + .seconds(10)) == [4])
    #expect(table.expire(now: start + .seconds(11)) == [], "it was reported once")
    #expect(table.expire(now: start + .seconds(60)) == [3], "a reader who takes nothing")
    #expect(table.expire(now: start + .seconds(6000)) == [], "a handler and a stream have no end")
    table.answer(1, isStream: false, now: start + .seconds(6000))
    table.finish(1, now: start + .seconds(6001))
    #expect(table.expire(now: start + .seconds(6031)) == [1])
    for id in 1...4 { table.close(id) }
    #expect(table.table.isEmpty)
  }

  @Test func `who waits longest goes first, counted from its last answer`() {
    let table = Asked(limits)
    for id in 1...3 { _ = table.open(id, from: one, now: start) }
    _ = table.begin(1, isVital: true)
    table.finish(1, now: start)
    #expect(table.open(4, from: one, now: start) == [2])
  }
}
