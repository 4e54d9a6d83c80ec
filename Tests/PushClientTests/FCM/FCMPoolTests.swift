import Base
import RideCore
import Testing

@testable import PushClient

/// A pool that lacks an access token.
@Suite struct FCMPoolTests {
  private struct Push: PrioritizedPush {
    var number: Int
    var lane = "customer"
    var validUntil = Int64.max
  }

  private typealias Machine = PoolStateMachine<Push>

  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    ConnectionStateMachineTests.at(milliseconds)
  }

  private static func machine() -> Machine {
    Machine(
      settings: .init(),
      backoff: ConnectBackoff(base: .milliseconds(500), cap: .seconds(30), seed: 1))
  }

  private static let missing = Machine.Block(cause: .noConnection("no access token: soon"))

  @Test func `without a token no connection is opened, and the token opens one`() {
    var machine = Self.machine()
    _ = machine.block(Self.missing, at: Self.at(0))
    let actions = machine.enqueue([Push(number: 1)], at: Self.at(0))
    #expect(actions?.open == nil)
    #expect(actions?.superviseAt == Self.at(9_500))
    #expect(machine.connect(at: Self.at(1)).open == nil)
    #expect(machine.block(nil, at: Self.at(100)).open == 1)
  }

  @Test(
    arguments: [
      .noConnection("no access token: 503"),
      .turnedAway(Refusal(status: 400, reason: "TOKEN_ENDPOINT")),
    ] as [UnsentCause])
  func `a push that can't wait for the token ends with the reason`(cause: UnsentCause) {
    var machine = Self.machine()
    _ = machine.block(Self.missing, at: Self.at(0))
    _ = machine.enqueue([Push(number: 1), Push(number: 2)], at: Self.at(0))
    #expect(machine.supervise(at: Self.at(9_499)).rejected.isEmpty)
    _ = machine.block(.init(cause: cause), at: Self.at(9_499))
    let rejected = machine.supervise(at: Self.at(9_500)).rejected
    #expect(rejected.map(\.cause) == [cause, cause])
  }

  @Test func `a new token wakes every connection, because none reports a free stream`() {
    var machine = Self.machine()
    _ = machine.enqueue([Push(number: 1)], at: Self.at(0))
    machine.connected(1, at: Self.at(10))
    let full = PooledConnection.Load(
      freeStreams: 0, inFlight: 0, limit: 100, isProved: true, isSuspect: false)
    #expect(machine.take(by: 1, load: full, at: Self.at(11)).pushes.isEmpty)
    _ = machine.block(Self.missing, at: Self.at(12))
    #expect(machine.block(nil, at: Self.at(20)).wake == [1])
    let free = PooledConnection.Load(
      freeStreams: 100, inFlight: 0, limit: 100, isProved: true, isSuspect: false)
    #expect(machine.take(by: 1, load: free, at: Self.at(21)).pushes.map(\.push.number) == [1])
  }

  @Test func `only a token endpoint that can't be reached is reported as unreachable`() {
    var machine = Self.machine()
    _ = machine.block(Self.missing, at: Self.at(0))
    #expect(machine.reachability == nil)
    _ = machine.block(
      .init(cause: .noConnection("no access token: x"), isUnreachable: true), at: Self.at(1))
    #expect(machine.reachability == .unreachable)
    _ = machine.block(nil, at: Self.at(2))
    #expect(machine.reachability == nil)
  }
}
