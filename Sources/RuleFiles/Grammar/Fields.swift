import RideCore

/// A mapping whose keys are words of the format.
struct Fields {
  let location: SourceLocation
  /// The known keys that were probably meant by unknown ones: these are not missing.
  let meant: Set<String>
  private let pairs: [YAMLNode.Pair]

  /// The keys that are there, in the order of the file.
  var keys: [String] { pairs.map(\.key) }

  /// The value of a key.
  subscript(key: String) -> YAMLNode? {
    pairs.first { $0.key == key }?.value
  }

  /// Whether all that the file says under these keys, and nothing else, is here.
  func isWhole(_ known: [String]) -> Bool {
    pairs.allSatisfy { known.contains($0.key) && !$0.isRepeated }
  }

  /// Where a key stands.
  func location(of key: String) -> SourceLocation {
    pairs.first { $0.key == key }?.keyPlace ?? location
  }
}

extension Fields {
  /// Takes over a mapping, and reports every key that is not known in it.
  ///
  /// - Parameters:
  ///   - unserved: keys that are known too, but that a message does not recommend.
  ///   - elsewhere: where a key belongs that the format knows, but not here.
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
