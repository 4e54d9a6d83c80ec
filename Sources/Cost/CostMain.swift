import Foundation
import LocalStack

/// `make cost`: instructions and allocations of fixed work, which other work on the machine cannot
/// change.
@main
enum CostMain {
  static func main() {
    do {
      let arguments = try CostArguments(Array(CommandLine.arguments.dropFirst()))
      if let (work, runs) = arguments.run {
        try work.run(runs, rules: arguments.rules)
      } else {
        try measure(arguments)
      }
    } catch {
      print("ridepulse-cost: \(error)")
      exit(1)
    }
  }

  /// Measures, and compares or records; exits with status 2 if a figure is over its limit.
  private static func measure(_ arguments: CostArguments) throws {
    let tool = try Valgrind(rules: arguments.rules)
    var figures = CostFigures(toolchain: arguments.toolchain)
    for work in arguments.works {
      figures.costs[work.rawValue] = try tool.cost(of: work)
    }
    if let path = arguments.write {
      // Paths that were not measured keep their figures of the same toolchain.
      if let text = try? String(contentsOfFile: path, encoding: .utf8) {
        let old = try CostFigures(text)
        if old.toolchain == figures.toolchain { figures.costs.merge(old.costs) { new, _ in new } }
      }
      try figures.text.write(toFile: path, atomically: true, encoding: .utf8)
      return print("figures of \(figures.costs.count) paths written to \(path)")
    }
    let text = try String(contentsOfFile: arguments.against, encoding: .utf8)
    let comparison = CostComparison(figures, to: try CostFigures(text))
    print(comparison.table)
    if let difference = comparison.otherToolchain { throw CostFailure(text: difference) }
    if !comparison.over.isEmpty { exit(2) }
  }
}

/// What one call of the program does.
struct CostArguments {
  /// The work to repeat in this process, which valgrind observes, and how often.
  private(set) var run: (work: Work, runs: Int)?
  private(set) var works: [Work] = []
  /// The file to write figures to, instead of comparing them.
  private(set) var write: String?
  /// The file with the figures to compare with.
  private(set) var against = "Sources/Cost/recorded.tsv"
  private(set) var rules = "Sources/Cost/Rules"
  private(set) var toolchain = "unknown"

  static let usage = """
    usage: ridepulse-cost [--against FILE | --write FILE] [--rules DIRECTORY] [--toolchain TEXT]
             [PATH ...]
    """

  init(_ words: [String]) throws {
    var words = words[...]
    func value(of option: String) throws -> String {
      guard let value = words.popFirst() else {
        throw CostFailure(text: "\(option) without a value; \(Self.usage)")
      }
      return value
    }
    while let word = words.popFirst() {
      switch word {
      case "--run":
        guard let runs = Int(try value(of: word)), runs > 0 else {
          throw CostFailure(text: "--run without a number of runs")
        }
        run = (try Self.work(try value(of: "--run \(runs)")), runs)
      case "--write": write = try value(of: word)
      case "--against": against = try value(of: word)
      case "--rules": rules = try value(of: word)
      case "--toolchain": toolchain = try value(of: word)
      default: works.append(try Self.work(word))
      }
    }
    if works.isEmpty { works = Work.allCases }
  }

  private static func work(_ name: String) throws -> Work {
    if let work = Work(rawValue: name) { return work }
    let known = Work.allCases.map(\.rawValue).joined(separator: ", ")
    throw CostFailure(text: "unknown path \(name); expected \(known)")
  }
}

/// A failure of the measurement itself.
struct CostFailure: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
