/// The words of the rule format that this version knows and does not serve.
enum Unserved {
  /// Keys that go with contact from phones.
  static let companions = ["lost-contact"]
}

/// Keys of which a rule has exactly one.
enum KeyGroup {
  /// Keys that say when a rule speaks.
  static let whens = ["on", "every", "before", "after", "cron"]

  /// Keys that say what a rule sends.
  static let whats = ["alert", "background", "live-activity"]
}

extension Diagnostics {
  /// The one key of a group that is there; none, or several, are reported.
  func single(
    _ group: [String], in fields: Fields, lack: String, expected: String, elsewhere: [String] = []
  ) -> String? {
    let present = fields.keys.filter(group.contains)
    guard let first = present.first else {
      // A misspelt key, or one that belongs within another, was reported already.
      if !fields.meant.isDisjoint(with: group) { return nil }
      if fields.keys.contains(where: elsewhere.contains) { return nil }
      let title = fields["name"]?.string.map { "the rule \(quoted($0))" } ?? "a rule"
      report(fields.location, "\(title) does not say \(lack)", expected: expected)
      return nil
    }
    for second in present.dropFirst() {
      report(
        fields.location(of: second),
        "\(quoted(second)) in a rule that has \(quoted(first)) at \(fields.location(of: first))",
        expected: "one of the two; the other in a rule of its own")
    }
    return present.count == 1 ? first : nil
  }

  /// Reports keys that have no meaning beside the rule's own kind.
  func reportStray(_ keys: [String], in fields: Fields, _ found: String, expected: String) {
    for key in fields.keys where keys.contains(key) {
      report(fields.location(of: key), "\(quoted(key)) \(found)", expected: expected)
    }
  }
}
