import Base
import RideCore
import Testing

@testable import PushClient

/// Pushes whose sender relies on what it knows of the recipient for a while only.
@Suite struct FreshnessTests {
  private struct Push: PrioritizedPush, Equatable {
    var id: Int
    var lane: String { "customer" }
    var validUntil: Int64 = .max
    var freshUntil: Int64 = .max
    var sendWithin: Duration?
  }

  private typealias Machine = PoolStateMachine<Push>
  private static let wall = Timestamp(epochSeconds: 1_800_000_000)

  private static func machine() -> Machine {
    Machine(
      settings: Machine.Settings(),
      backoff: ConnectBackoff(base: .seconds(10), cap: .seconds(30), seed: 1))
  }

  private static func push(_ id: Int, freshFor: Duration, sendWithin: Duration? = nil) -> Push {
    Push(id: id, freshUntil: (wall + freshFor).microseconds, sendWithin: sendWithin)
  }

  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    PoolStateMachineTests.at(milliseconds)
  }

  @Test func `A5: a push that is too old when a stream is free goes back to its sender`() {
    var machine = Self.machine()
    let actions = machine.enqueue(
      [Self.push(1, freshFor: .seconds(1)), Push(id: 2)], at: Self.at(0), wall: Self.wall)
    #expect(actions?.superviseAt == Self.at(1000))
    machine.connected(1, at: Self.at(1000))
    let taken = machine.take(by: 1, load: PoolStateMachineTests.load(5), at: Self.at(1000))
    #expect(taken.pushes.map(\.push.id) == [2])
    #expect(taken.rejected.map(\.push.id) == [1])
    #expect(taken.rejected.map(\.cause) == [.outdated(left: .milliseconds(8500))])
  }

  @Test func `A5: a younger one is sent, one returned by a connection is not sent on old data`() {
    var machine = Self.machine()
    _ = machine.enqueue([Self.push(1, freshFor: .seconds(1))], at: Self.at(0), wall: Self.wall)
    machine.connected(1, at: Self.at(900))
    let taken = machine.take(by: 1, load: PoolStateMachineTests.load(5), at: Self.at(999))
    #expect(taken.pushes.map(\.push.id) == [1])
    let returned = taken.pushes.map { (queued: $0, cause: UnsentCause.refusedStream) }
    let requeued = machine.requeue(returned, at: Self.at(1200))
    #expect(requeued.rejected.isEmpty)
    let again = machine.take(by: 1, load: PoolStateMachineTests.load(5), at: Self.at(1200))
    #expect(again.pushes.isEmpty)
    #expect(again.rejected.map(\.cause) == [.outdated(left: .milliseconds(8300))])
  }

  private static let refusals: [UnsentCause] = [
    .turnedAway(Refusal(status: 400, reason: Refusal.tokenEndpoint)),
    .certificateRefused("unknown ca"),
  ]

  @Test(arguments: refusals + [.noConnection("no access token: 503")])
  func `a refused credential is the reason when what is known of the recipient is too old`(
    cause: UnsentCause
  ) {
    var machine = Self.machine()
    _ = machine.enqueue([Self.push(1, freshFor: .seconds(1))], at: Self.at(0), wall: Self.wall)
    if case .certificateRefused(let text) = cause {
      _ = machine.ended(1, problem: text, refusesCertificate: true, at: Self.at(100))
    } else {
      _ = machine.block(.init(cause: cause), at: Self.at(100))
    }
    let (rejected, _) = machine.supervise(at: Self.at(1000))
    let isRefused = Self.refusals.contains(cause)
    #expect(
      rejected.map(\.cause) == [isRefused ? cause : .outdated(left: .milliseconds(8500))])
  }

  @Test func `A5: submitted again, it keeps what is left of its deadline`() {
    var machine = Self.machine()
    _ = machine.enqueue(
      [Self.push(1, freshFor: .seconds(1), sendWithin: .milliseconds(700))], at: Self.at(0),
      wall: Self.wall)
    let (rejected, _) = machine.supervise(at: Self.at(700))
    #expect(rejected.map(\.cause) == [.noConnection("the connection was not open in time")])
  }

  @Test func `A5: a wall clock that is set back makes nothing fresh for longer than a second`() {
    var machine = Self.machine()
    _ = machine.enqueue([Self.push(1, freshFor: .seconds(3600))], at: Self.at(0), wall: Self.wall)
    let (rejected, _) = machine.supervise(at: Self.at(1000))
    #expect(rejected.count == 1)
  }

  @Test func `U15: a connection without a push does not wait for the back-off`() {
    var machine = Self.machine()
    #expect(machine.reachability == nil)
    #expect(machine.enqueue([Push(id: 1)], at: Self.at(0), wall: Self.wall)?.open == 1)
    #expect(machine.connect(at: Self.at(1)).open == nil, "one is being opened")
    let (wait, _) = machine.ended(1, problem: "Connection refused", at: Self.at(2))
    #expect(wait != nil)
    #expect(machine.reachability == .unreachable)
    #expect(machine.connect(at: Self.at(3)).open == 2)
    machine.connected(2, at: Self.at(4))
    #expect(machine.reachability == .connected)
    #expect(machine.connect(at: Self.at(5)).open == nil)
  }

  @Test func `U15: a refused certificate, or a connection that ends, is not unreachable`() {
    var machine = Self.machine()
    _ = machine.connect(at: Self.at(0))
    _ = machine.ended(1, problem: "bad certificate", refusesCertificate: true, at: Self.at(1))
    #expect(machine.reachability == nil)
    _ = machine.connect(at: Self.at(2))
    machine.connected(2, at: Self.at(3))
    _ = machine.ended(2, problem: "closed", at: Self.at(4))
    #expect(machine.reachability == nil)
  }
}
