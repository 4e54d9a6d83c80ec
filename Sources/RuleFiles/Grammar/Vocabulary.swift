/// The states and events that the service defines, under `states` and `events` in all files
/// together.
struct Vocabulary {
  private(set) var active: [String] = [
    "scheduled", "requested", "driver_assigned", "driver_en_route", "driver_arrived",
    "ride_started",
  ]
  private(set) var final: [String] = [
    "ride_completed", "cancelled_by_customer", "cancelled_by_driver", "no_show",
  ]
  private(set) var declared: Set<String> = []
  /// Whether the states and events of every file could be read: only then can an event be reported
  /// as unknown.
  var isComplete: Bool

  private var statesPlace: String?

  init(isComplete: Bool) {
    self.isComplete = isComplete
  }

  /// Every event that a rule may name.
  var events: Set<String> {
    declared.union(active).union(final).union(["ride_updated"])
  }

  /// Returns the words as names of events, and reports those that no file declares.
  ///
  /// - Parameter key: the key that names them.
  func events(_ words: [PlacedWord], of key: String, log: Diagnostics) -> [String] {
    let known = events.sorted()
    for word in words where isComplete && !known.contains(word.text) {
      log.report(
        word.location, "\(key) names the unknown event \(quoted(word.text))",
        expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    }
    return words.map(\.text)
  }

  /// Adds the states and events of one file.
  mutating func add(_ file: Fields, log: Diagnostics) {
    if !file.isWhole { isComplete = false }
    if let events = file["events"] {
      declared.formUnion(words(events.node, for: "events", log: log).map(\.text))
    }
    guard let states = file["states"] else { return }
    if let statesPlace {
      log.report(
        states.location, "states for the second time",
        expected: "them in one file only (the first are at \(statesPlace))")
      isComplete = false
    } else {
      statesPlace = "\(log.file):\(states.location)"
      addStates(states.node, log: log)
    }
  }

  private mutating func addStates(_ node: YAMLNode, log: Diagnostics) {
    guard let fields = Fields(node, as: KeyTable.states, log: log) else {
      isComplete = false
      return
    }
    if !fields.isWhole { isComplete = false }
    let active = states("active", fields, log: log)
    let final = states("final", fields, log: log)
    for word in final {
      guard let active = active.first(where: { $0.text == word.text }) else { continue }
      log.report(
        word.location, "the state \(quoted(word.text)) is both active and final",
        expected: "it in one of the lists (active has it at \(active.location))")
    }
    for word in active + final where word.text == "ride_updated" {
      log.report(
        word.location, "a state named ride_updated",
        expected: "another name: this is the event for other changes of a ride")
    }
    (self.active, self.final) = (active.map(\.text), final.map(\.text))
  }

  private mutating func states(
    _ name: String, _ fields: Fields, log: Diagnostics
  ) -> [PlacedWord] {
    if let list = fields[name] {
      return words(list.node, for: "states.\(name)", log: log)
    }
    // A misspelt key was already reported.
    if fields.isWhole { _ = fields.required(name) }
    isComplete = false
    return []
  }

  private mutating func words(
    _ node: YAMLNode, for key: String, log: Diagnostics
  ) -> [PlacedWord] {
    let words = NodeDecoder(log: log).words(node, for: key)
    if case .sequence(let elements) = node.kind, elements.count == words.count { return words }
    isComplete = false
    return words
  }
}
