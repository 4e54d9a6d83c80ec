/// A binary heap whose least element is always first.
package struct Heap<Element: Comparable> {
  private var elements: [Element]

  /// Creates a heap of elements in any order.
  package init(_ elements: [Element] = []) {
    // A sorted array is a heap.
    self.elements = elements.sorted()
  }

  /// The least element.
  package var first: Element? { elements.first }

  package var count: Int { elements.count }

  package var isEmpty: Bool { elements.isEmpty }

  /// All elements, in no particular order.
  package var all: [Element] { elements }

  package mutating func insert(_ element: Element) {
    var index = elements.count
    elements.append(element)
    while index > 0 {
      let parent = (index - 1) / 2
      guard element < elements[parent] else { break }
      elements[index] = elements[parent]
      index = parent
    }
    elements[index] = element
  }

  /// Removes and returns the least element.
  package mutating func popFirst() -> Element? {
    guard let first = elements.first else { return nil }
    let last = elements.removeLast()
    if !elements.isEmpty { replaceFirst(with: last) }
    return first
  }

  /// Replaces the least element; the heap must not be empty.
  package mutating func replaceFirst(with element: Element) {
    var index = 0
    while true {
      var child = 2 * index + 1
      guard child < elements.count else { break }
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      if element < elements[child] { break }
      elements[index] = elements[child]
      index = child
    }
    if elements.indices.contains(index) { elements[index] = element }
  }
}

extension Heap: Sendable where Element: Sendable {}
