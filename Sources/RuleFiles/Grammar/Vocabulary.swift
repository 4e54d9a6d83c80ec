import RideCore

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

  private var statesLocation: String?

  init(isComplete: Bool) {
    self.isComplete = isComplete
  }

  /// Every state, active or final.
  var states: [String] { active + final }

  /// Every event that a rule may name.
  var events: Set<String> {
    declared.union(active).union(final).union(["ride_updated"])
  }

  /// Returns the words as names of events, and reports those that no file declares.
  ///
  /// - Parameter key: the key that names them.
  func events(_ words: [LocatedWord], of key: String, diagnostics: Diagnostics) -> [String] {
    let known = events.sorted()
    for word in words where isComplete && !known.contains(word.text) {
      diagnostics.report(
        word.location, "\(key) names the unknown event \(quoted(word.text))",
        expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    }
    return words.map(\.text)
  }

  /// Decodes a map whose keys are events.
  ///
  /// - Parameter expected: what each event has, for messages.
  func byEvent<Value>(
    _ field: Field, expected: String, diagnostics: Diagnostics,
    _ value: (YAMLNode, _ path: String) -> Value?
  ) -> [String: Value] {
    guard case .mapping(let pairs) = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: field.name, expected: "a map of event to \(expected)")
      return [:]
    }
    var values: [String: Value] = [:]
    for pair in pairs {
      let event = LocatedWord(text: pair.key, location: pair.keyLocation)
      _ = events([event], of: field.name, diagnostics: diagnostics)
      values[pair.key] = value(pair.value, "\(field.name).\(shortened(pair.key))")
    }
    return values
  }

  /// Returns the word as the name of an event that a rule may emit; reports any other.
  ///
  /// The event of a state comes with the state, and `ride_updated` with a change of the row: neither
  /// would be true.
  func emitted(_ word: LocatedWord, of key: String, diagnostics: Diagnostics) -> String? {
    if declared.contains(word.text) || !isComplete { return word.text }
    let known = declared.sorted()
    if events.contains(word.text) {
      let what = word.text == "ride_updated" ? "ride_updated" : "the state \(quoted(word.text))"
      diagnostics.report(
        word.location, "\(key) names \(what)",
        expected: "an event that is declared under events: this one comes with a change of the ride"
      )
    } else {
      diagnostics.report(
        word.location, "\(key) names the unknown event \(quoted(word.text))",
        expected: known.isEmpty
          ? "an event that is declared under events, where there is none"
          : "one that is declared under events: \(known.joined(separator: ", "))",
        word: word.text, among: known)
    }
    return nil
  }

  /// Adds the states and events of one file.
  mutating func add(_ file: Fields, diagnostics: Diagnostics) {
    if !file.isWhole { isComplete = false }
    if let events = file["events"] {
      let words = words(events.node, for: "events", diagnostics: diagnostics)
      Self.reportInternal(words, "an event", diagnostics: diagnostics)
      Self.reportBases(words, "an event", diagnostics: diagnostics)
      declared.formUnion(words.map(\.text))
    }
    guard let states = file["states"] else { return }
    if let statesLocation {
      diagnostics.report(
        states.location, "states for the second time",
        expected: "them in one file only (the first are at \(statesLocation))")
      isComplete = false
    } else {
      statesLocation = "\(diagnostics.file):\(states.location)"
      addStates(states.node, diagnostics: diagnostics)
    }
  }

  private mutating func addStates(_ node: YAMLNode, diagnostics: Diagnostics) {
    guard let fields = Fields(node, as: KeyTable.states, diagnostics: diagnostics) else {
      isComplete = false
      return
    }
    if !fields.isWhole { isComplete = false }
    let active = states("active", fields, diagnostics: diagnostics)
    let final = states("final", fields, diagnostics: diagnostics)
    for word in final {
      guard let active = active.first(where: { $0.text == word.text }) else { continue }
      diagnostics.report(
        word.location, "the state \(quoted(word.text)) is both active and final",
        expected: "it in one of the lists (active has it at \(active.location))")
    }
    for word in active + final where word.text == "ride_updated" {
      diagnostics.report(
        word.location, "a state named ride_updated",
        expected: "another name: this is the event for other changes of a ride")
    }
    Self.reportInternal(active + final, "a state", diagnostics: diagnostics)
    Self.reportBases(active + final, "a state", diagnostics: diagnostics)
    (self.active, self.final) = (active.map(\.text), final.map(\.text))
  }

  /// Reports names that mean something else in `at`.
  private static func reportBases(
    _ words: [LocatedWord], _ what: String, diagnostics: Diagnostics
  ) {
    for word in words where TimeDecoder.reserved.contains(word.text) {
      diagnostics.report(
        word.location, "\(what) named \(word.text)",
        expected: "another name: at has another meaning for this one")
    }
  }

  private static func reportInternal(
    _ words: [LocatedWord], _ what: String, diagnostics: Diagnostics
  ) {
    for word in words where InternalEvent(rawValue: word.text) != nil {
      diagnostics.report(
        word.location, "\(what) named \(word.text)",
        expected: "another name: RidePulse emits this event itself, and no rule can name it")
    }
  }

  private mutating func states(
    _ name: String, _ fields: Fields, diagnostics: Diagnostics
  ) -> [LocatedWord] {
    if let list = fields[name] {
      return words(list.node, for: "states.\(name)", diagnostics: diagnostics)
    }
    // A misspelt key was already reported.
    if fields.isWhole { _ = fields.required(name) }
    isComplete = false
    return []
  }

  private mutating func words(
    _ node: YAMLNode, for key: String, diagnostics: Diagnostics
  ) -> [LocatedWord] {
    let words = NodeDecoder(diagnostics: diagnostics).words(node, for: key)
    if case .sequence(let elements) = node.kind, elements.count == words.count { return words }
    isComplete = false
    return words
  }
}
