import Synchronization

/// Counts outages as they begin, so that other troubles can act in the middle of one.
final class Outages: Sendable {
  enum Kind: CaseIterable, Sendable {
    case oneNode, bothNodes, database
  }

  private let counts = Mutex<[Kind: Int]>([:])

  func begin(_ kind: Kind) {
    counts.withLock { $0[kind, default: 0] += 1 }
  }

  /// How many outages of these kinds have begun.
  func count(of kinds: Set<Kind>) -> Int {
    counts.withLock { counts in kinds.reduce(0) { $0 + (counts[$1] ?? 0) } }
  }
}
