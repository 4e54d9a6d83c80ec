/// Returns the known word that was most likely meant; nil if none is near.
///
/// A word is near if at most a third of the longer word's letters are changed, added, left out or
/// swapped.
package func nearestWord(to word: String, among known: some Sequence<String>) -> String? {
  var best: (word: String, distance: Int)?
  for candidate in known {
    let limit = max(1, max(word.count, candidate.count) / 3)
    // The edit distance is at least the difference in length; without this check a long text takes
    // seconds.
    guard abs(word.count - candidate.count) <= limit else { continue }
    let distance = editDistance(Array(word.lowercased()), Array(candidate.lowercased()))
    guard distance <= limit, distance < best?.distance ?? .max else { continue }
    best = (candidate, distance)
  }
  return best?.word
}

/// Returns `; did you mean X?`, or an empty text if no known word is near.
package func suggestion(for word: String, among known: some Sequence<String>) -> String {
  nearestWord(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
}

/// Returns the number of letters to change to turn one word into the other; swapping two adjacent
/// letters counts as one.
private func editDistance(_ left: [Character], _ right: [Character]) -> Int {
  var older: [Int] = []
  var previous = Array(0...right.count)
  for (row, letter) in left.enumerated() {
    var current = [row + 1]
    for (column, other) in right.enumerated() {
      var cost = min(previous[column + 1] + 1, current[column] + 1)
      cost = min(cost, previous[column] + (letter == other ? 0 : 1))
      if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
        cost = min(cost, older[column - 1] + 1)
      }
      current.append(cost)
    }
    older = previous
    previous = current
  }
  return previous[right.count]
}
