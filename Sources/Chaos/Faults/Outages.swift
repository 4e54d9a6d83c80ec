import Synchronization

/// Counts outages as they begin, so that other faults can be injected during an outage.
final class Outages: Sendable {
  enum Kind: CaseIterable, Sendable {
    case oneNode, bothNodes, database
  }

  private let counts = Mutex<[Kind: Int]>([:])

  func begin(_ kind: Kind) {
    counts.withLock { $0[kind, default: 0] += 1 }
  }

  /// Returns how many outages of these kinds have begun.
  func count(of kinds: Set<Kind>) -> Int {
    counts.withLock { counts in kinds.reduce(0) { $0 + (counts[$1] ?? 0) } }
  }
}
