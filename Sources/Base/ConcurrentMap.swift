extension Collection where Element: Sendable {
  /// Returns the values of `body` in the order of the elements; at most `width` run at one time.
  @discardableResult
  package func concurrentMap<Value: Sendable>(
    atMost width: Int = .max, _ body: @escaping @Sendable (Element) async -> Value
  ) async -> [Value] {
    await withTaskGroup(of: (Int, Value).self) { group in
      var found: [(Int, Value)] = []
      for (index, element) in enumerated() {
        if index >= width, let next = await group.next() { found.append(next) }
        group.addTask { (index, await body(element)) }
      }
      for await value in group { found.append(value) }
      return found.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
