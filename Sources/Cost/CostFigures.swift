import Foundation

/// What one unit of a path costs.
struct Cost: Hashable {
  var instructions: Double
  var allocations: Double
}

/// The costs of paths by name, as a file keeps them.
struct CostFigures: Hashable {
  /// The compiler that built what was measured: another one gives other figures.
  var toolchain: String
  var costs: [String: Cost] = [:]

  private static let title = "path\tinstructions\tallocations"
  private static let toolchain = "# toolchain: "

  init(toolchain: String) { self.toolchain = toolchain }

  /// Reads a file.
  ///
  /// - Throws: `CostFailure` with the line that cannot be read.
  init(_ text: String) throws {
    toolchain = "unknown"
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.hasPrefix(Self.toolchain) { toolchain = String(line.dropFirst(Self.toolchain.count)) }
      if line.isEmpty || line.hasPrefix("#") || line == Self.title { continue }
      let words = line.split(separator: "\t")
      guard words.count == 3, let instructions = Double(words[1]),
        let allocations = Double(words[2])
      else {
        throw CostFailure(
          text: "line \(index + 1) of the figures is not \"\(Self.title)\": \(line)")
      }
      costs[String(words[0])] = Cost(instructions: instructions, allocations: allocations)
    }
  }

  /// The file: `make cost RECORD=1` writes it.
  var text: String {
    let rows = costs.sorted { $0.key < $1.key }.map { name, cost in
      "\(name)\t\(Self.number(cost.instructions, 0))\t\(Self.number(cost.allocations, 2))"
    }
    return (["\(Self.toolchain)\(toolchain)", Self.title] + rows).joined(separator: "\n") + "\n"
  }

  /// Returns a number as files and tables show it, in any locale.
  static func number(_ value: Double, _ digits: Int) -> String {
    value.formatted(
      .number.precision(.fractionLength(digits)).grouping(.never)
        .locale(Locale(identifier: "en_US_POSIX")))
  }
}
