import Base
import Timeline

/// How two sets of rules differ, in the forms that `rehearse` and `preview --diff` print.
struct ChangeText {
  let changes: RehearsalChanges

  /// The longest text of an example.
  private static let exampleLimit = 200

  /// The differences by rule and kind, in order.
  var groups: [(rule: String, kind: RehearsalChanges.Kind, group: RehearsalChanges.Group)] {
    changes.groups.sorted { $0.key < $1.key }.flatMap { rule, kinds in
      RehearsalChanges.Kind.allCases.compactMap { kind in
        kinds[kind].map { (rule, kind, $0) }
      }
    }
  }

  /// The number of pushes that do not differ, in words.
  var unchanged: String { counted(changes.unchanged, "push", "pushes") }

  /// A line for each rule and kind of change, with examples below it.
  var lines: [String] {
    if changes.isEmpty { return ["no change: \(unchanged)"] }
    var lines: [String] = []
    for (rule, kind, group) in groups {
      lines.append("\(rule): \(group.count) \(kind.rawValue)")
      for example in group.examples {
        lines.append("  \(CivilTime.exact(example.at)) ride \(example.ride)")
        if let before = example.before { lines.append("    - " + Self.short(before)) }
        if let after = example.after { lines.append("    + " + Self.short(after)) }
      }
    }
    return lines + ["the same: \(unchanged)"]
  }

  private static func short(_ text: String) -> String {
    text.count <= exampleLimit ? text : text.prefix(exampleLimit) + "…"
  }

  /// An object for each rule and kind of change.
  var json: [JSONValue] {
    groups.map { rule, kind, group in
      .object([
        "rule": .string(rule), "change": .string(kind.rawValue),
        "pushes": .integer(Int64(group.count)), "examples": .array(group.examples.map(Self.json)),
      ])
    }
  }

  private static func json(_ example: RehearsalChanges.Example) -> JSONValue {
    .object([
      "at": .string(CivilTime.exact(example.at)), "ride_id": .string(example.ride),
      "before": .orNull(example.before), "after": .orNull(example.after),
    ])
  }
}
