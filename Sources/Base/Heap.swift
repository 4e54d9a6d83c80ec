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
    var place = elements.count
    elements.append(element)
    while place > 0 {
      let parent = (place - 1) / 2
      guard element < elements[parent] else { break }
      elements[place] = elements[parent]
      place = parent
    }
    elements[place] = element
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
    var place = 0
    while true {
      var child = 2 * place + 1
      guard child < elements.count else { break }
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      if element < elements[child] { break }
      elements[place] = elements[child]
      place = child
    }
    if elements.indices.contains(place) { elements[place] = element }
  }
}

extension Heap: Sendable where Element: Sendable {}
