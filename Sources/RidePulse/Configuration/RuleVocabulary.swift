import PostgresStore
import RideCore
import RuleFiles

/// The states and events that the rule files declare, and where to declare others.
struct RuleVocabulary: Sendable {
  var states: Set<String>
  var events: Set<String>
  /// The rule directory.
  var directory: String
  var statesFile: String?
  var eventsFile: String?

  init(_ loaded: LoadedRules, directory: String) {
    states = loaded.ruleSet.activeStates.union(loaded.ruleSet.finalStates)
    events = loaded.ruleSet.knownEvents
    self.directory = directory
    (statesFile, eventsFile) = (loaded.statesFile, loaded.eventsFile)
  }

  func known(_ kind: UndeclaredWord.Kind) -> Set<String> {
    switch kind {
    case .state: states
    case .event: events
    }
  }

  /// Describes the change of a rule file that declares a word.
  func remedy(for word: String, as kind: UndeclaredWord.Kind) -> String {
    switch kind {
    case .event:
      "add \(word) to events: in \(eventsFile ?? "a file of \(directory)")"
    case .state:
      "add \(word) to active or final under states: in \(statesFile ?? "a file of \(directory)")"
    }
  }
}
