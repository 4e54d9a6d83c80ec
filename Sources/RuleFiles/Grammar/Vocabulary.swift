/// The states and events that the service defines, under `states` and `events` in all files
/// together.
struct Vocabulary {
  /// The keys of a rule file.
  static let keys = ["states", "events", "rules"]

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

  /// Adds the states and events of one file.
  mutating func add(_ file: Fields, log: Diagnostics) {
    if !file.isWhole(Self.keys) { isComplete = false }
    if let node = file["events"] {
      declared.formUnion(words(node, for: "events", log: log).map(\.text))
    }
    guard let states = file["states"] else { return }
    if let statesPlace {
      log.report(
        file.location(of: "states"), "states for the second time",
        expected: "them in one file only (the first are at \(statesPlace))")
      isComplete = false
    } else {
      statesPlace = "\(log.file):\(file.location(of: "states"))"
      addStates(states, log: log)
    }
  }

  private mutating func addStates(_ node: YAMLNode, log: Diagnostics) {
    let keys = ["active", "final"]
    guard let fields = Fields(node, of: "states", known: keys, log: log) else {
      isComplete = false
      return
    }
    if !fields.isWhole(keys) { isComplete = false }
    let lists = keys.map { key in
      if let list = fields[key] { return words(list, for: "states.\(key)", log: log) }
      // A misspelt key was already reported.
      if fields.isWhole(keys) {
        log.report(
          fields.location, "states without \(key)",
          expected: "the lists active (on the agenda) and final (over)")
      }
      isComplete = false
      return []
    }
    for word in lists[1] {
      guard let active = lists[0].first(where: { $0.text == word.text }) else { continue }
      log.report(
        word.location, "the state \(quoted(word.text)) is both active and final",
        expected: "it in one of the lists (active has it at \(active.location))")
    }
    for word in lists.joined() where word.text == "ride_updated" {
      log.report(
        word.location, "a state named ride_updated",
        expected: "another name: a ride's changes beside its state go by this one")
    }
    (active, final) = (lists[0].map(\.text), lists[1].map(\.text))
  }

  private mutating func words(
    _ node: YAMLNode, for key: String, log: Diagnostics
  ) -> [PlacedWord] {
    let words = log.words(node, for: key, form: .event)
    if case .sequence(let elements) = node.kind, elements.count == words.count { return words }
    isComplete = false
    return words
  }
}
