/// The keys of the rule format that this version recognizes but does not support.
enum Unserved {
  /// Keys that concern contact from phones.
  static let companions = ["lost-contact"]
}

/// Groups of keys, exactly one of which a rule must have.
enum KeyGroup {
  /// The keys that determine when a rule fires.
  static let whens = ["on", "every", "before", "after", "cron"]

  /// The keys that determine what a rule sends.
  static let whats = ["alert", "background", "live-activity"]
}

extension Diagnostics {
  /// Returns the key of a group that is present; reports a problem if there is none, or more than
  /// one.
  func single(
    _ group: [String], in fields: Fields, lack: String, expected: String, elsewhere: [String] = []
  ) -> String? {
    let present = fields.keys.filter(group.contains)
    guard let first = present.first else {
      // A misspelt or misplaced key was already reported.
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

  /// Reports keys that have no meaning for this kind of rule.
  func reportStray(_ keys: [String], in fields: Fields, _ found: String, expected: String) {
    for key in fields.keys where keys.contains(key) {
      report(fields.location(of: key), "\(quoted(key)) \(found)", expected: expected)
    }
  }
}
