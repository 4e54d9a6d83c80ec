import Base

/// A regular expression in a subset of RE2's syntax, matched in time that is linear in the text.
///
/// It is a machine that is in several states at once, so it never goes back in the text: no pattern
/// and no text can make it slow. Groups are not captured, because CEL only asks whether there is a
/// match.
package struct LinearRegex: Sendable {
  /// What is wrong with a pattern.
  package struct Mistake: Error {
    package let text: String

    /// - Parameter text: may quote any character of the pattern; a line break becomes a space.
    init(text: String) { self.text = text.brief(bytes: 120) }
  }

  enum Instruction: Sendable {
    /// Goes on if the next scalar is in the set.
    case scalar(ScalarSet)
    /// Goes on at both instructions.
    case split(Int, Int)
    case jump(Int)
    /// Goes on if the position in the text is such a one.
    case require(Assertion)
    case match
  }

  enum Assertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordEdge, noWordEdge
  }

  /// The largest number of instructions.
  static let limit = 2000
  /// The largest number of parts that are written one after another: a repetition of nothing has no
  /// instruction, and can still be repeated a thousand times a thousand times.
  static let writingLimit = 20_000

  let program: [Instruction]

  package init(_ pattern: String) throws(Mistake) {
    let node = try RegexParser.parse(pattern)
    var builder = RegexBuilder()
    try builder.append(node)
    program = builder.program + [.match]
  }

  /// Returns whether the pattern matches anywhere in a text of a person's own.
  package func isFound(in text: String) -> Bool {
    var steps = CELSteps(upTo: .max)
    return (try? isFound(in: text, &steps)) ?? false
  }

  /// Returns whether the pattern matches anywhere in a text.
  func isFound(in text: String, _ steps: inout CELSteps) throws(CELFault) -> Bool {
    try steps.spend(bytes: text.utf8.count + program.count * 8)
    var search = Search(program, Array(text.unicodeScalars))
    return try search.run(&steps)
  }
}

/// One run of the machine over a text.
private struct Search {
  private let program: [LinearRegex.Instruction]
  private let text: [Unicode.Scalar]
  /// The position at which a state was last reached, by instruction.
  private var reached: [Int]
  /// The instructions that were looked at since steps were last spent for them.
  private var work = 0

  init(_ program: [LinearRegex.Instruction], _ text: [Unicode.Scalar]) {
    self.program = program
    self.text = text
    reached = Array(repeating: -1, count: program.count)
  }

  mutating func run(_ steps: inout CELSteps) throws(CELFault) -> Bool {
    var current: [Int] = []
    var following: [Int] = []
    for position in 0...text.count {
      // A match may start anywhere.
      if reach(0, at: position, &current) { return true }
      if position == text.count { return false }
      try steps.spend(1 + work / 16)
      work = 0
      following.removeAll(keepingCapacity: true)
      for index in current {
        guard case .scalar(let set) = program[index] else { continue }
        work += set.cost
        guard set.contains(text[position]) else { continue }
        if reach(index + 1, at: position + 1, &following) { return true }
      }
      swap(&current, &following)
    }
    return false
  }

  /// Adds a state and all that it leads to without a scalar; returns whether one of them matches.
  private mutating func reach(_ start: Int, at position: Int, _ states: inout [Int]) -> Bool {
    var open = [start]
    while let index = open.popLast() {
      work += 1
      if reached[index] == position { continue }
      reached[index] = position
      switch program[index] {
      case .match: return true
      case .scalar: states.append(index)
      case .jump(let target): open.append(target)
      case .split(let first, let second): open += [second, first]
      case .require(let assertion):
        if holds(assertion, at: position) { open.append(index + 1) }
      }
    }
    return false
  }

  private func holds(_ assertion: LinearRegex.Assertion, at position: Int) -> Bool {
    switch assertion {
    case .textStart: position == 0
    case .textEnd: position == text.count
    case .lineStart: position == 0 || text[position - 1] == "\n"
    case .lineEnd: position == text.count || text[position] == "\n"
    case .wordEdge: isWordEdge(position)
    case .noWordEdge: !isWordEdge(position)
    }
  }

  private func isWordEdge(_ position: Int) -> Bool {
    let before = position > 0 && ScalarSet.word.contains(text[position - 1])
    let after = position < text.count && ScalarSet.word.contains(text[position])
    return before != after
  }
}

/// Writes the machine of a pattern.
private struct RegexBuilder {
  private(set) var program: [LinearRegex.Instruction] = []
  private var written = 0

  mutating func append(_ node: RegexNode) throws(LinearRegex.Mistake) {
    written += 1
    if written > LinearRegex.writingLimit { throw LinearRegex.Mistake(text: "is too large") }
    switch node {
    case .empty: break
    case .scalar(let set): try emit(.scalar(set))
    case .require(let assertion): try emit(.require(assertion))
    case .sequence(let nodes): for node in nodes { try append(node) }
    case .either(let nodes):
      var ends: [Int] = []
      for (index, node) in nodes.enumerated() {
        if index == nodes.count - 1 {
          try append(node)
        } else {
          let split = try emit(.split(0, 0))
          try append(node)
          ends.append(try emit(.jump(0)))
          program[split] = .split(split + 1, program.count)
        }
      }
      for end in ends { program[end] = .jump(program.count) }
    case .repeated(let node, let least, let most):
      for _ in 0..<least { try append(node) }
      guard let most else {
        let split = try emit(.split(0, 0))
        try append(node)
        try emit(.jump(split))
        program[split] = .split(split + 1, program.count)
        return
      }
      var splits: [Int] = []
      for _ in 0..<max(0, most - least) {
        splits.append(try emit(.split(0, 0)))
        try append(node)
      }
      for split in splits { program[split] = .split(split + 1, program.count) }
    }
  }

  @discardableResult
  private mutating func emit(
    _ instruction: LinearRegex.Instruction
  ) throws(LinearRegex.Mistake) -> Int {
    guard program.count < LinearRegex.limit else {
      throw LinearRegex.Mistake(text: "is too large")
    }
    program.append(instruction)
    return program.count - 1
  }
}

/// A set of Unicode scalars.
struct ScalarSet: Sendable {
  var ranges: [ClosedRange<UInt32>]
  var isNegated = false
  var ignoresCase = false

  /// What a look at it costs, in instructions.
  var cost: Int { 1 + ranges.count / 4 + (ignoresCase ? 8 : 0) }

  static let word = ScalarSet(ranges: [48...57, 65...90, 95...95, 97...122])
  static let digit = ScalarSet(ranges: [48...57])
  static let space = ScalarSet(ranges: [9...10, 12...13, 32...32])

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isMember = holds(scalar.value)
    if !isMember, ignoresCase {
      let texts = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
      isMember = texts.contains { text in
        text.unicodeScalars.count == 1 && text.unicodeScalars.first.map { holds($0.value) } == true
      }
    }
    return isMember != isNegated
  }

  private func holds(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }

  /// The scalars that are not in it, as ranges.
  var inverted: [ClosedRange<UInt32>] {
    var result: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10ffff { result.append(next...0x10ffff) }
    return result
  }
}
