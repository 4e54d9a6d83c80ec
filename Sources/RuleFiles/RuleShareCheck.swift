import RideCore

extension LoadedRules {
  /// Why rides can't be shared between these rules and others, the service's first ones; nil if they
  /// can.
  package func problem(nextTo first: LoadedRules, directory: String) -> RuleProblem? {
    let (own, others) = (ruleSet, first.ruleSet)
    guard own.activeStates != others.activeStates || own.finalStates != others.finalStates else {
      return nil
    }
    let states = own.activeStates.union(own.finalStates)
    let known = others.activeStates.union(others.finalStates)
    let word = states.symmetricDifference(known).sorted().first
    return RuleProblem(
      file: statesFile ?? directory, location: nil,
      found: word.map { "states that differ from those of the first directory, such as \($0)" }
        ?? "a state that is active in one directory and final in the other",
      expected: "the same states: deploy new ones with the first directory")
  }
}
