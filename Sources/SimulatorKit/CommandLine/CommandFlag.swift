/// A flag of a simulator's command line.
package protocol CommandFlag: RawRepresentable, CaseIterable, Equatable, Sendable
where RawValue == String {
  static var help: Self { get }
  var takesValue: Bool { get }
}

package struct UsageError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

extension CommandFlag {
  /// Parses the words, and passes each flag with its value on.
  ///
  /// - Parameters:
  ///   - commands: words that could have been meant in the place of an unknown one.
  ///   - operand: takes a word that is not a flag; returns false for one too many.
  /// - Returns: false if help is asked for.
  package static func parse(
    _ words: [String], commands: [String] = [], operand: (String) -> Bool = { _ in false },
    _ set: (Self, String) throws(UsageError) -> Void
  ) throws(UsageError) -> Bool {
    var rest = words[...]
    while let word = rest.popFirst() {
      if !word.hasPrefix("--"), operand(word) { continue }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let flag = Self(rawValue: String(parts[0])) else { throw unknown(word, commands) }
      var value = parts.count == 2 ? String(parts[1]) : nil
      if flag.takesValue, value == nil { value = rest.popFirst() }
      guard flag.takesValue == (value != nil) else {
        throw UsageError(
          description: flag.takesValue ? "\(flag.rawValue) needs a value" : "\(word): no value")
      }
      if flag == .help { return false }
      try set(flag, value ?? "")
    }
    return true
  }

  /// Parses the words of a command about one file, `-` for standard input.
  ///
  /// - Returns: the file; nil if help is asked for.
  package static func parse(
    _ words: [String], withFileOf command: String,
    _ set: (Self, String) throws(UsageError) -> Void
  ) throws(UsageError) -> String? {
    var file: String?
    let isComplete = try parse(
      words,
      operand: { word in
        if file != nil { return false }
        file = word
        return true
      }, set)
    guard isComplete else { return nil }
    guard let file else {
      throw UsageError(description: "\(command) needs a file, or - for standard input")
    }
    return file
  }

  private static func unknown(_ word: String, _ commands: [String]) -> UsageError {
    if commands.contains(word) { return UsageError(description: "\(word) must be the first word") }
    let hint = nearest(to: word, in: allCases.map(\.rawValue) + commands).map {
      "; the nearest known is \($0)"
    }
    return UsageError(description: "unknown \"\(word)\"\(hint ?? "")")
  }

  package func text(_ value: String) throws(UsageError) -> String {
    if value.isEmpty { throw refusal(value, "a word") }
    return value
  }

  package func number(_ value: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw refusal(value, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Returns what a word stands for.
  package func choice<Choice>(
    _ value: String, of names: [String], _ make: (String) -> Choice?
  ) throws(UsageError) -> Choice {
    guard let choice = make(value) else {
      throw refusal(value, "one of " + names.joined(separator: ", "))
    }
    return choice
  }

  /// Parses `HOST:PORT`.
  package func endpoint(_ value: String) throws(UsageError) -> Endpoint {
    guard let endpoint = Endpoint(value) else {
      throw refusal(value, "HOST:PORT such as 127.0.0.1:2199; the host is an IPv4 address")
    }
    return endpoint
  }

  package func refusal(_ value: String, _ expected: String) -> UsageError {
    UsageError(description: "\(rawValue): found \"\(value)\", expected \(expected)")
  }
}

/// Returns the first of the names that differ least from a word.
package func nearest(to word: String, in names: [String]) -> String? {
  names.min { editDistance($0, word) < editDistance($1, word) }
}

/// Returns the Levenshtein distance: how many letters must change to turn one word into the other.
package func editDistance(_ left: String, _ right: String) -> Int {
  var row = Array(0...right.count)
  for (i, a) in left.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for (j, b) in right.enumerated() {
      let cost = min(diagonal + (a == b ? 0 : 1), row[j] + 1, row[j + 1] + 1)
      diagonal = row[j + 1]
      row[j + 1] = cost
    }
  }
  return row[right.count]
}
