import RideCore

/// Reads when a rule speaks and what it sends: exactly one of each.
struct KindReader {
  let log: ProblemLog
  let vocabulary: Vocabulary

  func kind(of fields: Fields) -> (Rule.When?, Rule.What?) {
    let isWhole = reportUnserved(in: fields)
    let when = isSingle(Unserved.whens, in: fields) && isWhole ? when(fields) : nil
    let what = isSingle(Unserved.whats, in: fields) && isWhole ? what(fields) : nil
    return (when, what)
  }

  private func when(_ fields: Fields) -> Rule.When? {
    guard let node = fields["on"] else {
      reportMissing(
        "on", "when it speaks",
        expected: "on with an event such as driver_arrived, or with a list of events", in: fields)
      return nil
    }
    let words = log.oneOrMoreWords(node, for: "on", form: .event)
    let known = vocabulary.events.sorted()
    for word in words where vocabulary.isComplete && !known.contains(word.text) {
      log.report(
        word.place, "on names the unknown event \(quoted(word.text))",
        expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    }
    return words.isEmpty ? nil : .on(words.map(\.text))
  }

  private func what(_ fields: Fields) -> Rule.What? {
    guard let node = fields["alert"] else {
      reportMissing(
        "alert", "what it sends", expected: "alert with a title, body or loc-key", in: fields)
      return nil
    }
    return log.alert(node).map { .alert($0) }
  }

  private func reportMissing(_ key: String, _ lack: String, expected: String, in fields: Fields) {
    // A misspelt key, or one of the alert's outside of it, was reported already.
    let group = key == "on" ? Unserved.whens : Unserved.whats
    if !fields.meant.isDisjoint(with: group) { return }
    if key == "alert", fields.keys.contains(where: ProblemLog.alertKeys.contains) { return }
    let title = fields["name"]?.string.map { "the rule \(quoted($0))" } ?? "a rule"
    log.report(fields.place, "\(title) does not say \(lack)", expected: expected)
  }

  /// Whether at most one of these keys is there.
  private func isSingle(_ keys: [String], in fields: Fields) -> Bool {
    let present = fields.keys.filter(keys.contains)
    guard let first = present.first, present.count > 1 else { return true }
    for second in present.dropFirst() {
      log.report(
        fields.place(of: second),
        "\(quoted(second)) in a rule that has \(quoted(first)) at \(fields.place(of: first))",
        expected: "one of the two; the other in a rule of its own")
    }
    return false
  }

  /// Reports the keys of kinds that are not served; true where there is none of such a kind.
  private func reportUnserved(in fields: Fields) -> Bool {
    let kinds = fields.keys.filter(Unserved.kinds.contains)
    // Two of one sort is a problem of its own, whichever of them is served.
    for kind in kinds
    where [Unserved.whens, Unserved.whats].allSatisfy({ group in
      !group.contains(kind) || fields.keys.count(where: group.contains) == 1
    }) {
      log.report(
        fields.place(of: kind), "\(quoted(kind)) rules are not served by this version yet",
        expected: "\"on\" with \"alert\"")
    }
    guard kinds.isEmpty else { return false }
    for key in fields.keys where Unserved.companions.contains(key) {
      if key == "while" {
        log.report(
          fields.place(of: key), "\"while\" in a rule with \"on\"",
          expected: "no \"while\": an event speaks in whatever state the ride is")
      } else {
        log.report(
          fields.place(of: key), "\(quoted(key)) is not served by this version yet",
          expected: "the rule without it")
      }
    }
    return true
  }
}
