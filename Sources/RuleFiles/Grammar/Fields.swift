import RideCore

/// A mapping whose keys are defined by the rule format.
struct Fields {
  let location: SourceLocation
  /// The known keys that unknown keys were probably meant to be: these do not count as missing.
  let meant: Set<String>
  private let pairs: [YAMLNode.Pair]

  /// The keys that are present, in the order of the file.
  var keys: [String] { pairs.map(\.key) }

  subscript(key: String) -> YAMLNode? {
    pairs.first { $0.key == key }?.value
  }

  /// Returns whether the mapping has only these keys and none of them twice, so that nothing is
  /// left out.
  func isWhole(_ known: [String]) -> Bool {
    pairs.allSatisfy { known.contains($0.key) && !$0.isRepeated }
  }

  /// Returns the location of a key, or of the mapping if it has no such key.
  func location(of key: String) -> SourceLocation {
    pairs.first { $0.key == key }?.keyPlace ?? location
  }
}

extension Fields {
  /// Wraps a mapping and reports every unknown key in it.
  ///
  /// - Parameters:
  ///   - unserved: keys that are also known, but that messages do not list as expected.
  ///   - elsewhere: keys of the format that do not belong here, each with the place where it does.
  init?(
    _ node: YAMLNode, of subject: String, known: [String], unserved: [String] = [],
    elsewhere: [String: String] = [:], log: Diagnostics
  ) {
    guard case .mapping(let pairs) = node.kind else {
      log.reportType(
        of: node, for: subject, expected: "a mapping (keys: \(known.joined(separator: ", ")))")
      return nil
    }
    location = node.location
    self.pairs = pairs
    let unknown = pairs.filter { !known.contains($0.key) && !unserved.contains($0.key) }
    meant = Set(unknown.compactMap { nearestWord(to: $0.key, among: known + unserved) })
    for pair in unknown {
      let found = "unknown key \(quoted(pair.key)) in \(subject)"
      if let right = elsewhere[pair.key] {
        log.report(pair.keyPlace, found, expected: right)
      } else {
        log.report(
          pair.keyPlace, found, expected: "one of \(known.joined(separator: ", "))",
          word: pair.key, among: known + unserved)
      }
    }
  }
}
