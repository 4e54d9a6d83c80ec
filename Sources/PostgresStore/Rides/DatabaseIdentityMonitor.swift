import RideCore

/// The database in which claims are made, and whether they may be: a state machine that decides
/// what a claim's report means.
struct DatabaseIdentityMonitor {
  /// What the claim statement reports about the database.
  struct Report: Hashable {
    var identity: DatabaseIdentity
    /// Whether the database and the apps match the pin.
    var mayClaim: Bool
    /// Whether the database and all apps of this service are pinned.
    var isPinned: Bool
  }

  enum Action: Hashable {
    /// Numbers that the database gives out may have fallen back: nothing in memory that was derived
    /// from them may be used.
    case forgetNumbers(from: DatabaseIdentity)
    /// The pin must be checked, and written if there is none.
    case checkPin
  }

  private(set) var identity: DatabaseIdentity?
  /// How often the identity has changed.
  private(set) var moves = 0
  private(set) var problems: [PinProblem] = []

  mutating func handle(_ report: Report) -> [Action] {
    var actions: [Action] = []
    if let old = identity, old != report.identity {
      moves += 1
      actions.append(.forgetNumbers(from: old))
    }
    identity = report.identity
    if !report.mayClaim || !report.isPinned || !problems.isEmpty { actions.append(.checkPin) }
    return actions
  }

  /// Records the result of a check; returns whether it differs from that of the last one.
  mutating func checked(_ found: [PinProblem]) -> Bool {
    defer { problems = found }
    return found != problems
  }
}
