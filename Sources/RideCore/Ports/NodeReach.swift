/// Whether a node reaches APNs.
package enum NodeReach: String, Hashable, Sendable {
  /// It has a connection.
  case reached
  /// It has none, and could not open one.
  case lost
}

/// What the other live nodes report.
package struct NodePeers: Hashable, Sendable {
  package var isAnyReached = false
  package var isAnyLost = false

  package init(isAnyReached: Bool = false, isAnyLost: Bool = false) {
    self.isAnyReached = isAnyReached
    self.isAnyLost = isAnyLost
  }
}
