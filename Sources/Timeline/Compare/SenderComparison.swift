package import Base
import RideCore

/// An old sender's pushes next to what RidePulse decided.
///
/// Pushes of one person and kind are paired in the order of their times, as many as the window allows.
package struct SenderComparison: Sendable {
  /// Indices of an old push and of a new one.
  package struct Pair: Hashable, Sendable {
    package var old: Int
    package var new: Int
  }

  private struct Key: Hashable {
    var person: OwnerID
    var kind: String
  }

  private struct Group {
    var old: [Int] = []
    var shown: [Int] = []
    var notSent: [Int] = []
  }

  /// Both senders showed it.
  package private(set) var both: [Pair] = []
  /// RidePulse decided it and sent nothing.
  package private(set) var notSent: [Pair] = []
  /// The ledger has no row for it.
  package private(set) var undecided: [Int] = []
  /// Only RidePulse showed it.
  package private(set) var onlyNew: [Int] = []

  /// - Parameters:
  ///   - window: The most time between the two of a pair.
  ///   - range: What is compared. A push outside may be the other one of a pair, and counts for nothing
  ///     else.
  package init(
    _ old: [OldPush], _ new: [NewPush], _ kinds: KindMap, within window: Duration,
    in range: Range<Timestamp>
  ) {
    var groups: [Key: Group] = [:]
    for (index, push) in old.enumerated() {
      groups[Key(person: push.person, kind: push.kind), default: Group()].old.append(index)
    }
    for (index, push) in new.enumerated() {
      let key = Key(person: push.person, kind: kinds.kind(of: push))
      if push.isShown {
        groups[key, default: Group()].shown.append(index)
      } else {
        groups[key, default: Group()].notSent.append(index)
      }
    }
    let (oldTimes, newTimes) = (old.map(\.at), new.map(\.at))
    for group in groups.values {
      let olds = Self.sorted(group.old, by: oldTimes)
      func pairs(_ olds: [Int], _ news: [Int]) -> [Pair] {
        let news = Self.sorted(news, by: newTimes)
        return TimePairs(olds.map { oldTimes[$0] }, news.map { newTimes[$0] }, within: window)
          .pairs.map { Pair(old: olds[$0.0], new: news[$0.1]) }
      }
      let shown = pairs(olds, group.shown)
      let taken = Set(shown.map(\.old))
      let left = olds.filter { !taken.contains($0) }
      let decided = pairs(left, group.notSent)
      let explained = Set(decided.map(\.old))
      both += shown.filter { range.contains(oldTimes[$0.old]) }
      notSent += decided.filter { range.contains(oldTimes[$0.old]) }
      undecided += left.filter { !explained.contains($0) && range.contains(oldTimes[$0]) }
      let used = Set(shown.map(\.new))
      onlyNew += group.shown.filter { !used.contains($0) && range.contains(newTimes[$0]) }
    }
    both.sort { $0.old < $1.old }
    notSent.sort { $0.old < $1.old }
    undecided.sort()
    onlyNew = Self.sorted(onlyNew, by: newTimes)
  }

  private static func sorted(_ indices: [Int], by times: [Timestamp]) -> [Int] {
    indices.sorted { (times[$0], $0) < (times[$1], $1) }
  }
}

/// Pairs of times that are close to each other.
struct TimePairs {
  /// Indices into both lists; both rise.
  private(set) var pairs: [(Int, Int)] = []

  /// Pairs as many as possible, and then each as closely as its neighbours leave room for.
  ///
  /// - Parameters:
  ///   - left: In ascending order.
  ///   - right: In ascending order.
  init(_ left: [Timestamp], _ right: [Timestamp], within window: Duration) {
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
      if right[j] - left[i] > window {
        i += 1
      } else if left[i] - right[j] > window {
        j += 1
      } else {
        pairs.append((i, j))
        i += 1
        j += 1
      }
    }
    // The first partners within the window were taken: later ones may be closer.
    for index in pairs.indices.reversed() {
      let next = index + 1 < pairs.count ? pairs[index + 1] : (left.count, right.count)
      let (lefts, rights) = (pairs[index].0..<next.0, pairs[index].1..<next.1)
      var pair = pairs[index]
      while true {
        let nearest = rights.min { Self.isCloser(right[$0], right[$1], to: left[pair.0]) }
        let j = nearest ?? pair.1
        let i = lefts.min { Self.isCloser(left[$0], left[$1], to: right[j]) } ?? pair.0
        if (i, j) == pair { break }
        pair = (i, j)
      }
      pairs[index] = pair
    }
  }

  private static func isCloser(_ one: Timestamp, _ other: Timestamp, to time: Timestamp) -> Bool {
    abs((one - time).microseconds) < abs((other - time).microseconds)
  }
}
