/// A queue that removes from the front without moving the rest.
struct FIFO<Element> {
  private var storage: [Element] = []
  private var head = 0

  var count: Int { storage.count - head }
  var isEmpty: Bool { head == storage.count }
  var first: Element? { isEmpty ? nil : storage[head] }
  var last: Element? { isEmpty ? nil : storage[storage.count - 1] }
  var all: ArraySlice<Element> { storage[head...] }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst(_ wanted: Int) -> [Element] {
    let taken = min(wanted, count)
    guard taken > 0 else { return [] }
    let result = Array(storage[head..<head + taken])
    head += taken
    compact()
    return result
  }

  // Removed elements are discarded when they are more than half of all, so that each element moves
  // once on average.
  private mutating func compact() {
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.capacity <= 4096)
      head = 0
    } else if head > 256, head > storage.count / 2 {
      storage.removeFirst(head)
      head = 0
    }
  }
}

extension FIFO: Sendable where Element: Sendable {}
