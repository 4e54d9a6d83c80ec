import Testing

@testable import PostgresStore

/// Tests of the order and size of a backfill's batches.
@Suite struct BackfillQueueTests {
  @Test func `A refused batch is halved, and a locked row comes last`() {
    var queue = BackfillQueue(Array(1...10))
    #expect(queue.next.count == 10)
    queue.refuse()
    #expect(queue.next == [1, 2, 3, 4, 5])
    queue.refuse()
    queue.refuse()
    #expect(queue.next == [1])
    queue.refuse()
    #expect(queue.next == [2])
    queue.accept()
    #expect(queue.next == [3, 4])
    queue.accept()
    queue.accept()
    #expect(queue.next == [9, 10, 1])
    queue.accept()
    #expect(queue.isEmpty)
  }

  @Test func `A batch has at most 200 rows`() {
    var queue = BackfillQueue(Array(1...500))
    #expect(queue.next.count == 200)
    queue.accept()
    #expect(queue.next.count == 200)
  }
}
