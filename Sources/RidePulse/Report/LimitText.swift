import Base
import RideCore
import Timeline

/// How often the phones of a day broke limits, in the forms that `rehearse` prints.
struct LimitText {
  /// Those that were asked for, in this order.
  let limits: [ScreenLimit.Kind]
  let figures: LimitFigures
  /// The rules that are compared with; nil if every break counts.
  let otherName: String?

  var groups: [(limit: ScreenLimit.Kind, group: LimitFigures.Group)] {
    limits.map { ($0, figures.groups[$0] ?? .init()) }
  }

  /// `rings-per-ride=4: broken by 3 phones, 1 of them new (main: 2)`
  func title(_ limit: ScreenLimit.Kind, _ group: LimitFigures.Group) -> String {
    let count = group.count == 0 ? "kept" : "broken by \(counted(group.count, "phone"))"
    guard let otherName else { return "\(limit.text): \(count)" }
    let new = group.count == 0 ? "" : ", \(group.new) of them new"
    return "\(limit.text): \(count)\(new) (\(otherName): \(group.before))"
  }

  static func title(_ example: LimitBreak) -> String {
    "\(CivilTime.exact(example.at)) ride \(example.ride): the phone of \(example.person) "
      + example.text
  }

  /// A line for each limit, with examples and what the person sees below it.
  func lines(_ isIncluded: (ScreenLimit.Kind) -> Bool = { _ in true }) -> [String] {
    var lines: [String] = []
    for (limit, group) in groups where isIncluded(limit) {
      lines.append("limit \(title(limit, group))")
      for example in group.examples {
        lines.append("  " + Self.title(example))
        lines += example.screen.map { "    | " + $0 }
      }
    }
    return lines
  }

  var json: [JSONValue] {
    groups.map { limit, group in
      .object([
        "limit": .string(limit.text), "phones": .integer(Int64(group.count)),
        "new": .integer(Int64(group.new)),
        "before": otherName == nil ? .null : .integer(Int64(group.before)),
        "examples": .array(group.examples.map(Self.json)),
      ])
    }
  }

  private static func json(_ example: LimitBreak) -> JSONValue {
    .object([
      "at": .string(CivilTime.exact(example.at)), "ride_id": .string(example.ride.text),
      "person": .string(example.person), "text": .string(example.text),
      "screen": .array(example.screen.map { .string($0) }),
    ])
  }
}
