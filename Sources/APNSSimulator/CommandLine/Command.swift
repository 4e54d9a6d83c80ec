/// The command that the arguments select.
enum Command: Equatable, Sendable {
  case serve(Options)
  case help

  struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  static func parse(_ words: [String]) throws(UsageError) -> Command {
    var options = Options()
    var topics: Set<String> = []
    var rest = words[...]
    while let word = rest.popFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let flag = Flag(rawValue: String(parts[0])) else { throw unknown(word) }
      var value = parts.count == 2 ? String(parts[1]) : nil
      if flag.takesValue, value == nil { value = rest.popFirst() }
      guard flag.takesValue == (value != nil) else {
        throw UsageError(
          description: flag.takesValue ? "\(flag.rawValue) needs a value" : "\(word): no value")
      }
      if flag == .help { return .help }
      if flag == .topic, let value { topics.insert(value) }
      try options.set(flag, value ?? "")
    }
    if !topics.isEmpty { options.bundleIDs = topics }
    return .serve(options)
  }

  private static func unknown(_ word: String) -> UsageError {
    let nearest = Flag.allCases.map(\.rawValue).min { distance($0, word) < distance($1, word) }
    let hint = nearest.map { "; the nearest known is \($0)" } ?? ""
    return UsageError(description: "unknown \"\(word)\"\(hint)")
  }

  /// Returns the Levenshtein distance: how many letters must change to turn one word into the
  /// other.
  static func distance(_ left: String, _ right: String) -> Int {
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
}
