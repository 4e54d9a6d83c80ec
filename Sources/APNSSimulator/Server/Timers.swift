/// Events ordered by their time, in a binary heap; events of equal time leave in order of arrival.
struct Timers<Event> {
  private struct Entry {
    let deadline: Int
    let order: Int
    let event: Event

    func isBefore(_ other: Entry) -> Bool {
      (deadline, order) < (other.deadline, other.order)
    }
  }

  private var heap: [Entry] = []
  private var added = 0

  var nextDeadline: Int? { heap.first?.deadline }

  mutating func add(_ event: Event, at deadline: Int) {
    heap.append(Entry(deadline: deadline, order: added, event: event))
    added += 1
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func takeDue(at now: Int) -> Event? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    sink()
    return first.event
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
