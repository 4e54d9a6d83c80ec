/// The active faults with their counts; only the first that matches and is due strikes.
struct FaultSet: Equatable, Sendable {
  private struct Entry: Equatable {
    let fault: Fault
    var matched = 0
    var struck = 0

    mutating func strikes(_ subject: FaultSubject) -> Bool {
      guard fault.match.matches(subject) else { return false }
      matched += 1
      if let first = fault.match.first, matched > first { return false }
      if let every = fault.match.every, !matched.isMultiple(of: every) { return false }
      if let times = fault.times, struck >= times { return false }
      struck += 1
      return true
    }
  }

  private var entries: [Entry] = []

  init(_ faults: [Fault] = []) {
    entries = faults.map { Entry(fault: $0) }
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func strike(_ subject: FaultSubject) -> Fault? {
    for index in entries.indices where entries[index].strikes(subject) {
      return entries[index].fault
    }
    return nil
  }

  /// The definitions, each with the number of times it struck.
  var json: JSON {
    .array(
      entries.map { entry in
        var members = entry.fault.definition.object ?? [:]
        members["struck"] = .integer(entry.struck)
        return .object(members)
      })
  }
}
