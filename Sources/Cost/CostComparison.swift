import Foundation

/// Figures next to earlier ones.
struct CostComparison {
  private let new: CostFigures
  private let old: CostFigures

  /// The share of instructions that a path may gain.
  static let tolerance = 0.02
  /// How many allocations a unit may gain: less than one that each unit makes.
  static let allocations = 0.5

  init(_ new: CostFigures, to old: CostFigures) {
    self.new = new
    self.old = old
  }

  /// Why the figures cannot be judged; nil if they can.
  var otherToolchain: String? {
    if new.toolchain == old.toolchain { return nil }
    return "built with \(new.toolchain), compared with \(old.toolchain): record the figures of a "
      + "good commit with this toolchain (make cost RECORD=1)"
  }

  /// The paths that cost more than they may.
  var over: [String] { rows.filter(\.isOver).map(\.name) }

  private struct Row {
    let name: String
    let new: Cost
    /// Nil for a path that the earlier figures do not have.
    let old: Cost?

    var isOver: Bool {
      guard let old else { return false }
      return new.instructions > old.instructions * (1 + tolerance)
        || new.allocations > old.allocations + CostComparison.allocations
    }

    var isUnder: Bool {
      guard let old else { return false }
      return new.instructions < old.instructions * (1 - tolerance)
        || new.allocations < old.allocations - CostComparison.allocations
    }
  }

  private var rows: [Row] {
    Work.allCases.compactMap { work in
      let name = work.rawValue
      return new.costs[name].map { Row(name: name, new: $0, old: old.costs[name]) }
    }
  }

  /// The figures in columns, and the verdict.
  var table: String {
    let head = Self.line(
      "", ["instructions", "before", "change", "allocations", "before", "change"])
    let lines = rows.map { row in
      let unit = Work(rawValue: row.name)?.unit ?? ""
      let cells =
        Self.cells(row.new.instructions, row.old?.instructions, digits: 0)
        + Self.cells(row.new.allocations, row.old?.allocations, digits: 1)
      let mark = row.isOver ? "  OVER" : row.isUnder ? "  less" : ""
      return Self.line("\(row.name), \(unit)", cells) + mark
    }
    let end = otherToolchain == nil ? [verdict] : []
    return ([head] + lines + end).joined(separator: "\n")
  }

  private var verdict: String {
    let limits =
      "\(CostFigures.number(Self.tolerance * 100, 0)) % of the instructions or "
      + "\(Self.allocations) allocations"
    if over.isEmpty { return "no path costs over \(limits) more" }
    return "\(over.joined(separator: ", ")): over \(limits) more; find out why with "
      + "callgrind_annotate, or record it with make cost RECORD=1 and the reason"
  }

  private static func cells(_ new: Double, _ old: Double?, digits: Int) -> [String] {
    guard let old else { return [CostFigures.number(new, digits), "none", ""] }
    let change = old == 0 ? (new == 0 ? 0 : 1) : new / old - 1
    let sign = change > 0 ? "+" : ""
    return [
      CostFigures.number(new, digits), CostFigures.number(old, digits),
      "\(sign)\(CostFigures.number(change * 100, 2)) %",
    ]
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    name.padding(toLength: 32, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, 13 - $0.count)) + $0 }.joined()
  }
}
