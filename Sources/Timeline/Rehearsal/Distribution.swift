/// How many things there are of each number, such as rides by their pushes.
package struct Distribution: Hashable, Sendable {
  private var counts: [Int: Int] = [:]

  package init() {}

  package mutating func add(_ number: Int) { counts[number, default: 0] += 1 }

  /// Takes back what was added.
  mutating func remove(_ number: Int) {
    guard let count = counts[number] else { return }
    counts[number] = count > 1 ? count - 1 : nil
  }

  package mutating func add(_ other: Distribution) {
    counts.merge(other.counts, uniquingKeysWith: +)
  }

  /// Returns the smallest number that at least a share of them do not exceed; 0 without any.
  package func number(notExceededBy share: Double) -> Int {
    let all = counts.values.reduce(0, +)
    var seen = 0
    for (number, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += count
      if Double(seen) >= share * Double(all) { return number }
    }
    return 0
  }
}
