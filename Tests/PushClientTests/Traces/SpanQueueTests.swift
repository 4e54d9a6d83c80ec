import Base
import Testing

@testable import PushClient
@testable import RideCore

/// The steps of the queue of spans, and what answers mean.
@Suite struct SpanQueueTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

  private static func at(_ seconds: Double) -> MonotonicTime {
    start + .milliseconds(Int(seconds * 1000))
  }

  private static func spans(_ ids: ClosedRange<UInt64>) -> [TraceSpan] {
    ids.map { id in
      let time = Timestamp(epochSeconds: 1_800_000_000)
      return TraceSpan(traceID: 1, id: id, name: "n", kind: .client, start: time, end: time)
    }
  }

  private static func counts(_ exported: Int, _ dropped: Int, _ failed: Int) -> SpanCounts {
    var counts = SpanCounts()
    (counts.exported, counts.dropped, counts.failed) = (exported, dropped, failed)
    return counts
  }

  @Test func `spans wait a second for more, and a full request leaves at once`() {
    var queue = SpanQueue(limit: 10, batchLimit: 3)
    #expect(queue.next(at: Self.at(0)) == .wait(until: .never))
    #expect(queue.add(Self.spans(1...1), at: Self.at(0)) == true)
    #expect(queue.next(at: Self.at(0)) == .wait(until: Self.at(1)))
    // The thread need not wake for it.
    #expect(queue.add(Self.spans(2...2), at: Self.at(0.5)) == false)
    #expect(queue.next(at: Self.at(1)) == .send(Self.spans(1...2)))
    queue.ended(.accepted(rejected: 0), at: Self.at(1), random: 0)
    #expect(queue.next(at: Self.at(1)) == .wait(until: .never))
    #expect(queue.add(Self.spans(3...7), at: Self.at(2)) == true)
    #expect(queue.next(at: Self.at(2)) == .send(Self.spans(3...5)))
    queue.ended(.accepted(rejected: 0), at: Self.at(2), random: 0)
    #expect(queue.next(at: Self.at(2)) == .wait(until: Self.at(3)))
    #expect(queue.next(at: Self.at(3)) == .send(Self.spans(6...7)))
    queue.ended(.accepted(rejected: 1), at: Self.at(3), random: 0)
    #expect(queue.counts == Self.counts(6, 0, 1))
  }

  @Test func `what does not fit is dropped and counted, those in flight included`() {
    var queue = SpanQueue(limit: 4, batchLimit: 3)
    _ = queue.add(Self.spans(1...3), at: Self.at(0))
    #expect(queue.next(at: Self.at(0)) == .send(Self.spans(1...3)))
    #expect(queue.add(Self.spans(4...9), at: Self.at(0)) == false)
    #expect(queue.counts == Self.counts(0, 5, 0))
    queue.ended(.accepted(rejected: 0), at: Self.at(0), random: 0)
    #expect(queue.next(at: Self.at(1)) == .send(Self.spans(4...4)))
  }

  @Test func `a request is repeated with rising waits until it is answered for good`() {
    var queue = SpanQueue(limit: 4, batchLimit: 3)
    _ = queue.add(Self.spans(1...3), at: Self.at(0))
    var now = Self.at(0)
    for wait in [1, 2, 4, 8, 16, 30, 30] {
      #expect(queue.next(at: now) == .send(Self.spans(1...3)))
      queue.ended(.later(atLeast: .zero), at: now, random: 1)
      #expect(queue.next(at: now) == .wait(until: now + .seconds(wait)))
      now = now + .seconds(wait)
    }
    #expect(queue.next(at: now) == .send(Self.spans(1...3)))
    queue.ended(.later(atLeast: .seconds(90)), at: now, random: 0)
    #expect(queue.next(at: now + .seconds(89)) == .wait(until: now + .seconds(90)))
    #expect(queue.next(at: now + .seconds(90)) == .send(Self.spans(1...3)))
    queue.ended(.refused, at: now, random: 0)
    #expect(queue.counts == Self.counts(0, 0, 3))
    #expect(queue.next(at: now) == .wait(until: .never))
  }

  @Test func `close sends what is left at once, and ends in time`() {
    var queue = SpanQueue(limit: 10, batchLimit: 2)
    _ = queue.add(Self.spans(1...3), at: Self.at(0))
    #expect(queue.next(at: Self.at(0)) == .send(Self.spans(1...2)))
    queue.ended(.later(atLeast: .seconds(60)), at: Self.at(0), random: 0)
    queue.close(until: Self.at(5), at: Self.at(1))
    _ = queue.add(Self.spans(4...4), at: Self.at(1))
    #expect(queue.next(at: Self.at(1)) == .send(Self.spans(1...2)))
    queue.ended(.accepted(rejected: 0), at: Self.at(1), random: 0)
    #expect(queue.next(at: Self.at(1)) == .send(Self.spans(3...3)))
    queue.ended(.later(atLeast: .seconds(60)), at: Self.at(1), random: 0)
    #expect(queue.next(at: Self.at(1)) == .wait(until: Self.at(5)))
    #expect(queue.next(at: Self.at(5)) == .end)
    #expect(queue.counts == Self.counts(2, 1, 1))
  }

  @Test func `an empty queue ends when it is closed`() {
    var queue = SpanQueue()
    queue.close(until: Self.at(5), at: Self.at(0))
    #expect(queue.next(at: Self.at(0)) == .end)
  }

  private static let answers: [(Int, String?, String, SpanAnswer)] = [
    (200, nil, "{}", .accepted(rejected: 0)), (200, nil, "", .accepted(rejected: 0)),
    (202, nil, "not JSON", .accepted(rejected: 0)),
    (200, nil, #"{"partialSuccess":{"rejectedSpans":"2"}}"#, .accepted(rejected: 2)),
    (200, nil, #"{"partialSuccess":{"rejectedSpans":3}}"#, .accepted(rejected: 3)),
    (200, nil, #"{"partialSuccess":{"errorMessage":"hm"}}"#, .accepted(rejected: 0)),
    (429, "7", "", .later(atLeast: .seconds(7))), (429, nil, "", .later(atLeast: .zero)),
    (502, nil, "", .later(atLeast: .zero)), (503, "soon", "", .later(atLeast: .zero)),
    (504, "2", "", .later(atLeast: .seconds(2))), (400, nil, "", .refused),
    (401, "7", "", .refused), (404, nil, "", .refused), (413, nil, "", .refused),
    (500, nil, "", .refused), (301, nil, "", .refused),
  ]

  @Test(arguments: answers.indices)
  func `only the statuses that OTLP names are repeated`(index: Int) {
    let (status, wait, body, expected) = Self.answers[index]
    let answer = SpanAnswer(
      status: status, retryAfter: wait, body: Array(body.utf8),
      at: Timestamp(epochSeconds: 1_800_000_000))
    #expect(answer == expected)
  }
}
