import Base
import RideCore
import Testing

@testable import PushClient

/// Makes a number a push of one lane, ordered by arrival.
extension Int: PrioritizedPush {
  var lane: String { "" }
  var validUntil: Int64 { .max }
}

@Suite struct LaneQueueTests {
  private struct Push: PrioritizedPush, Hashable {
    var lane: String
    var sender = 0
    var validUntil: Int64
    var number: UInt64
  }

  private func queued(_ push: Push, deadline: Int64 = 1000) -> QueuedRequest<Push> {
    QueuedRequest(push: push, order: push.number, deadline: MonotonicTime(nanoseconds: deadline))
  }

  @Test("R13: apps take turns")
  func turns() {
    var queue = LaneQueue<Push>()
    for number in 0..<1000 {
      queue.append(queued(Push(lane: "driver", validUntil: 5, number: UInt64(number))))
    }
    queue.append(queued(Push(lane: "customer", validUntil: 9, number: 1000)))
    #expect(queue.popFirst(1).map(\.push.lane) == ["driver"])
    #expect(queue.popFirst(1).map(\.push.lane) == ["customer"])
    #expect(queue.popFirst(2000).count == 999)
    #expect(queue.isEmpty && queue.nextDeadline == nil)
  }

  @Test("Senders of one app take turns")
  func turnsOfSenders() {
    var queue = LaneQueue<Push>()
    for number in 0..<10_000 {
      queue.append(
        queued(Push(lane: "driver", sender: 0, validUntil: 5, number: UInt64(number))))
    }
    queue.append(queued(Push(lane: "driver", sender: 7, validUntil: 9, number: 10_000)))
    let first = queue.popFirst(10).map(\.push.sender)
    #expect(first.count { $0 == 7 } == 1)
    #expect(queue.popFirst(20_000).count == 9991)
  }

  @Test("An offer that lives 15 s goes before an arrival time")
  func urgency() {
    var queue = LaneQueue<Push>()
    for (number, until) in [(0, 120), (1, 300), (2, 15), (3, 15)] as [(UInt64, Int64)] {
      queue.append(queued(Push(lane: "driver", validUntil: until, number: number)))
    }
    #expect(queue.popFirst(4).map(\.push.number) == [2, 3, 0, 1])
  }

  @Test("R22: a push is not sent after its validity ends")
  func useless() {
    var machine = PoolStateMachine<Push>(
      settings: .init(), backoff: ConnectBackoff(base: .seconds(1), cap: .seconds(30), seed: 1))
    let wall = Timestamp(epochSeconds: 1_800_000_000)
    let pushes = [(0, 3), (1, 60), (2, -5)].map { number, seconds in
      Push(
        lane: "driver", validUntil: (wall + .seconds(Int64(seconds))).microseconds,
        number: UInt64(number))
    }
    let start = MonotonicTime(nanoseconds: 1_000_000_000)
    _ = machine.enqueue(pushes, at: start, wall: wall)
    #expect(machine.supervise(at: start).rejected.map(\.push.number) == [2])
    #expect(machine.supervise(at: start + .milliseconds(2999)).rejected.isEmpty)
    #expect(machine.supervise(at: start + .seconds(3)).rejected.map(\.push.number) == [0])
    #expect(machine.supervise(at: start + .seconds(10)).rejected.map(\.push.number) == [1])
  }

  @Test("The queue matches a simple model")
  func model() {
    var queue = LaneQueue<Push>()
    var model: [QueuedRequest<Push>] = []
    var random = SeededGenerator(seed: 3)
    var now: Int64 = 0
    for number in 0..<3000 {
      let push = Push(
        lane: ["a", "b", "c"].randomElement(using: &random) ?? "",
        validUntil: .random(in: 0..<50, using: &random), number: UInt64(number))
      queue.append(queued(push, deadline: now + 100))
      model.append(queued(push, deadline: now + 100))
      now += .random(in: 0..<3, using: &random)
      if number % 7 == 0 {
        for taken in queue.popFirst(.random(in: 0..<9, using: &random)) {
          let best = model.filter { $0.push.lane == taken.push.lane }.min()
          #expect(best == taken)
          model.removeAll { $0 == taken }
        }
      }
      if number % 31 == 0 {
        let expired = queue.expire(at: MonotonicTime(nanoseconds: now))
        #expect(
          expired.map(\.order) == model.filter { $0.deadline.nanoseconds <= now }.map(\.order))
        model.removeAll { $0.deadline.nanoseconds <= now }
      }
      #expect(queue.count == model.count)
      let earliest = model.map(\.deadline).min()
      #expect((queue.nextDeadline ?? .never) <= (earliest ?? .never))
    }
  }
}
