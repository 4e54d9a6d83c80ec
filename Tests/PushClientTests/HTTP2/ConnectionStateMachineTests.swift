import Base
import RideCore
import Testing

@testable import PushClient

@Suite struct ConnectionStateMachineTests {
  typealias Machine = ConnectionStateMachine<Int>

  static let wall = Timestamp(epochSeconds: 1_700_000_000)

  static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
  }

  static func machine() -> Machine { Machine(settings: .init(), at: at(0)) }

  /// Puts a push on a stream, as if its body began after `bodyStart` bytes.
  static func open(
    _ machine: inout Machine, _ push: Int, id: Int32, deadline: Int64 = 10_000,
    openedAt: Int64 = 0, bodyStart: Int? = 0
  ) -> Int {
    let slot = machine.streams.reserve()
    let queued = QueuedRequest(push: push, order: UInt64(push), deadline: at(deadline))
    machine.streams.fill(slot, with: queued, id: id, at: at(openedAt))
    _ = machine.streams.update(slot, id: id) { $0.bodyStart = bodyStart }
    return slot
  }

  static func answer(_ machine: inout Machine, _ slot: Int, id: Int32, status: String) {
    _ = machine.streams.update(slot, id: id) { stream in
      unsafe Array(status.utf8).withUnsafeBufferPointer {
        unsafe stream.answer.receive(status: $0)
      }
    }
  }

  /// A connection that has received its first good answer.
  static func proved() -> Machine {
    var machine = machine()
    _ = machine.answered(.accepted)
    return machine
  }

  private func end(_ machine: inout Machine, _ slot: Int, id: Int32, code: UInt32 = 0) -> Ended? {
    let ended = machine.closed(
      slot, id: id, code: code, errorName: "NAME", wall: Self.wall)
    return ended.map { Ended($0.ending) }
  }

  /// An ending in comparable form.
  enum Ended: Equatable {
    case report(Int, PushOutcome)
    case again(Int, UnsentCause)

    init(_ ending: Machine.Ending) {
      switch ending {
      case .report(let push, let outcome, _): self = .report(push, outcome)
      case .again(let queued, let cause): self = .again(queued.push, cause)
      }
    }
  }

  @Test(
    "One stream alone until an answer shows a valid token",
    arguments: [
      (.accepted, 1000), (.refused(Refusal(status: 400, reason: "BadDeviceToken")), 1000),
      (.refused(Refusal(status: 410)), 1000), (.refused(Refusal(status: 429)), 1000),
      (.refused(Refusal(status: 403, reason: "InvalidProviderToken")), 1),
      (.refused(Refusal(status: 500)), 1), (.refused(Refusal(status: 503)), 1),
    ] as [(PushOutcome, Int)])
  func firstStream(outcome: PushOutcome, capacity: Int) {
    var machine = Self.machine()
    #expect(machine.capacity(at: Self.at(1)) == 1)
    let slot = Self.open(&machine, 1, id: 1)
    #expect(machine.capacity(at: Self.at(1)) == 0)
    _ = machine.streams.remove(slot, id: 1)
    let tokenExpired = machine.answered(outcome)
    #expect(!tokenExpired)
    #expect(machine.capacity(at: Self.at(1)) == capacity)
  }

  @Test(
    "After these answers the connection accepts no more pushes",
    arguments: [
      (403, "ExpiredProviderToken", true), (429, "TooManyProviderTokenUpdates", false),
      (403, "UnrelatedKeyIdInToken", false), (503, "Shutdown", false),
      (400, "IdleTimeout", false),
    ])
  func endings(status: Int, reason: String, expired: Bool) {
    var machine = Self.proved()
    #expect(machine.answered(.refused(Refusal(status: status, reason: reason))) == expired)
    #expect(machine.phase == .draining(reason))
    #expect(machine.capacity(at: Self.at(1)) == 0)
    #expect(machine.isFinished)
  }

  @Test("The server's limit is obeyed as it rises and falls, also to nothing")
  func limit() {
    var machine = Self.proved()
    let slot = Self.open(&machine, 1, id: 1)
    for (limit, capacity) in [(10, 9), (1, 0), (0, 0), (500, 499), (1_000_000, 999)] {
      machine.limited(to: limit)
      #expect(machine.capacity(at: Self.at(1)) == capacity)
    }
    _ = machine.streams.remove(slot, id: 1)
    machine.limited(to: 0)
    #expect(machine.capacity(at: Self.at(1)) == 0)
  }

  @Test("R2: pushes above a GOAWAY's last stream are sent again, the others are awaited")
  func goAway() {
    var machine = Self.proved()
    let below = Self.open(&machine, 1, id: 1)
    let above = Self.open(&machine, 2, id: 3)
    machine.wentAway(lastStream: 1, reason: "Shutdown")
    #expect(end(&machine, above, id: 3, code: 7) == .again(2, .goAway(reason: "Shutdown")))
    #expect(!machine.isFinished)
    Self.answer(&machine, below, id: 1, status: "200")
    #expect(end(&machine, below, id: 1) == .report(1, .accepted))
    #expect(machine.isFinished)
  }

  @Test("R2: a connection lost after a GOAWAY has not processed pushes above its last stream")
  func lostAfterGoAway() {
    var machine = Self.proved()
    _ = Self.open(&machine, 1, id: 1, bodyStart: 10)
    _ = Self.open(&machine, 2, id: 3, bodyStart: 20)
    machine.wentAway(lastStream: 1, reason: "Shutdown")
    let endings = machine.lost("cut", sent: 1000, wall: Self.wall).map { Ended($0) }
    #expect(
      endings == [
        .report(1, .unanswered(.connectionLost("cut"))), .again(2, .goAway(reason: "Shutdown")),
      ])
  }

  @Test("How a stream ends")
  func streamEnds() {
    var machine = Self.proved()
    let cases: [(String, UInt32, Ended)] = [
      ("200", 0, .report(9, .accepted)),
      ("410", 0, .report(9, .refused(Refusal(status: 410)))),
      ("503", 2, .report(9, .refused(Refusal(status: 503)))),
      ("", 7, .again(9, .refusedStream)),
      ("", 8, .report(9, .unanswered(.reset("NAME")))),
      ("", 0, .report(9, .unanswered(.reset("PROTOCOL_ERROR")))),
    ]
    for (status, code, expected) in cases {
      let slot = Self.open(&machine, 9, id: 5)
      Self.answer(&machine, slot, id: 5, status: status)
      #expect(end(&machine, slot, id: 5, code: code) == expected)
      #expect(end(&machine, slot, id: 5, code: code) == nil, "once")
    }
  }

  @Test("A lost connection: pushes that did not leave are sent again, the others are unanswered")
  func lost() {
    var machine = Self.proved()
    _ = Self.open(&machine, 1, id: 1, bodyStart: 100)
    _ = Self.open(&machine, 2, id: 3, bodyStart: 1000)
    _ = Self.open(&machine, 3, id: 5, bodyStart: 1001)
    _ = Self.open(&machine, 4, id: 7, bodyStart: nil)
    let answered = Self.open(&machine, 5, id: 9, bodyStart: 10)
    Self.answer(&machine, answered, id: 9, status: "200")
    let endings = machine.lost("cut", sent: 1000, wall: Self.wall).map { Ended($0) }
    #expect(
      endings == [
        .report(1, .unanswered(.connectionLost("cut"))), .again(2, .noConnection("cut")),
        .again(3, .noConnection("cut")), .again(4, .noConnection("cut")),
        .report(5, .accepted),
      ])
    #expect(machine.isFinished)
  }

  @Test("R116: a refused client certificate leaves the first push unprocessed, but no later one")
  func refusedCertificate() {
    for (isProved, sent, expected) in [
      (false, 1000, .again(1, .certificateRefused("unknown ca"))),
      (false, 0, .again(1, .certificateRefused("unknown ca"))),
      (true, 1000, .report(1, .unanswered(.connectionLost("unknown ca")))),
    ] as [(Bool, Int, Ended)] {
      var machine = isProved ? Self.proved() : Self.machine()
      _ = Self.open(&machine, 1, id: 1, bodyStart: 100)
      let endings = machine.lost(
        "unknown ca", refusesCertificate: true, sent: sent, wall: Self.wall)
      #expect(endings.map { Ended($0) } == [expected], "\(isProved) \(sent)")
    }
  }

  @Test("R1: a stream times out at its deadline: unanswered if it left, unsent if it did not")
  func timeout() {
    var machine = Self.proved()
    _ = Self.open(&machine, 1, id: 1, deadline: 10_000, bodyStart: 5)
    _ = Self.open(&machine, 2, id: 3, deadline: 10_001, bodyStart: nil)
    #expect(machine.wakeAt() == Self.at(10_000))
    #expect(machine.nextTimeout(at: Self.at(9_999), sent: 100)?.id == nil)
    #expect(
      machine.nextTimeout(at: Self.at(10_001), sent: 100).map { Ended($0.ending) }
        == .report(1, .unanswered(.timeout)))
    #expect(
      machine.nextTimeout(at: Self.at(10_001), sent: 100).map { Ended($0.ending) }
        == .report(2, .unsent(.queuedTooLong)))
    #expect(machine.nextTimeout(at: Self.at(10_001), sent: 100)?.id == nil)
  }

  @Test("Three timeouts in a row replace a proved connection, one a new one; an answer resets them")
  func timeoutsInARow() {
    var machine = Self.proved()
    for round in 1...5 {
      let id = Int32(2 * round - 1)
      _ = Self.open(&machine, round, id: id)
      #expect(machine.nextTimeout(at: Self.at(10_000), sent: 1)?.id == id)
      if round == 2 { _ = machine.answered(.accepted) }
      #expect((machine.phase == .open) == (round < 5))
    }
    var new = Self.machine()
    _ = Self.open(&new, 1, id: 1)
    #expect(new.nextTimeout(at: Self.at(10_000), sent: 1)?.id == 1)
    #expect(new.isFinished)
  }

  @Test("A timeout of a push that waited in a queue does not count against the connection")
  func shortWait() {
    var new = Self.machine()
    for round in 1...4 {
      let id = Int32(2 * round - 1)
      _ = Self.open(&new, round, id: id, openedAt: 7_001)
      #expect(new.nextTimeout(at: Self.at(10_000), sent: 1)?.id == id)
      #expect(new.capacity(at: Self.at(10_000)) == 1)
    }
    _ = Self.open(&new, 5, id: 9, openedAt: 7_000)
    #expect(new.nextTimeout(at: Self.at(10_000), sent: 1)?.id == 9)
    #expect(new.isFinished)
  }

  @Test("R3: a ping after 30 quiet seconds; suspect after 1 more, lost after 10")
  func ping() {
    var machine = Self.proved()
    machine.received(at: Self.at(1000))
    #expect(machine.wakeAt() == Self.at(31_000))
    #expect(!machine.due(at: Self.at(30_999)).sendsPing)
    #expect(machine.due(at: Self.at(31_000)).sendsPing)
    #expect(!machine.due(at: Self.at(31_001)).sendsPing, "one at a time")
    #expect(machine.wakeAt() == Self.at(41_000))
    #expect(machine.capacity(at: Self.at(31_999)) == 1000)
    #expect(machine.capacity(at: Self.at(32_000)) == 0)
    #expect(machine.due(at: Self.at(40_999)).lost == nil)
    #expect(machine.due(at: Self.at(41_000)).lost != nil)
    machine.received(at: Self.at(41_000))
    #expect(machine.due(at: Self.at(41_001)).lost == nil, "any byte is a sign of life")
    #expect(machine.capacity(at: Self.at(41_001)) == 1000)
  }

  @Test("An old connection is replaced")
  func age() {
    var machine = Self.proved()
    machine.received(at: Self.at(86_399_000))
    _ = machine.due(at: Self.at(86_399_999))
    #expect(machine.phase == .open)
    _ = machine.due(at: Self.at(86_400_000))
    #expect(machine.phase == .draining("age"))
  }
}
