/// A queue that gives from the front without moving what stays.
struct FIFO<Element> {
  private var storage: [Element] = []
  private var head = 0

  var count: Int { storage.count - head }
  var isEmpty: Bool { head == storage.count }
  var first: Element? { isEmpty ? nil : storage[head] }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst(_ wanted: Int) -> [Element] {
    let taken = min(wanted, count)
    guard taken > 0 else { return [] }
    let result = Array(storage[head..<head + taken])
    head += taken
    compact()
    return result
  }

  /// Takes the first elements for as long as the test holds.
  mutating func popFirst(while test: (Element) -> Bool) -> [Element] {
    var end = head
    while end < storage.count, test(storage[end]) { end += 1 }
    return popFirst(end - head)
  }

  /// Sets elements among those that wait, each where the order says.
  mutating func merge(_ elements: [Element], by areInOrder: (Element, Element) -> Bool) {
    storage.removeFirst(head)
    head = 0
    storage.append(contentsOf: elements)
    storage.sort(by: areInOrder)
  }

  // What was taken is let go when it is half of all: each element moves once, on average.
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
