import RideCore

/// Decodes one entry of `rules:`.
struct RuleReader {
  /// The keys of a rule that this version supports, in the order in which messages list them.
  static let keys = [
    "name", "app", "on", "every", "before", "after", "by", "cron", "time-zone", "missed", "while",
    "alert", "background", "live-activity", "data", "expires", "collapse", "priority",
    "also-with-card", "unless-contact-within",
  ]

  let log: Diagnostics
  let vocabulary: Vocabulary

  /// The parts of a rule that could be decoded.
  struct Draft {
    var name: PlacedWord?
    var rule: Rule?
  }

  func draft(_ node: YAMLNode) -> Draft {
    let ofTheAlert = Diagnostics.alertKeys.map { ($0, "it within alert") }
    guard case .mapping = node.kind else {
      log.reportType(
        of: node, for: "an entry of rules", expected: "a mapping that starts with \"name:\"")
      return Draft()
    }
    guard
      let fields = Fields(
        node, of: "a rule", known: Self.keys, unserved: Unserved.companions,
        elsewhere: Dictionary(uniqueKeysWithValues: ofTheAlert), log: log)
    else { return Draft() }
    let name = required("name", in: fields, expected: WordForm.ruleName.rule)
      .flatMap { log.word($0, for: "name", form: .ruleName) }
    let app = required("app", in: fields, expected: WordForm.app.rule)
      .flatMap { log.word($0, for: "app", form: .app) }
    let when = TriggerDecoder(log: log, vocabulary: vocabulary).when(fields)
    let what = ActionDecoder(log: log, vocabulary: vocabulary).what(fields)
    let data = fields["data"].map { log.data($0) } ?? [:]
    let expires = required(
      "expires", in: fields,
      expected: "a duration such as 5m, or never-store: without it Apple may keep the push for "
        + "30 days"
    ).flatMap(log.expiry)
    let collapse = fields["collapse"].flatMap(collapse)
    let isSentWithCard = fields["also-with-card"].map { log.flag($0, for: "also-with-card") }
    if fields["also-with-card"] != nil, fields["alert"] == nil {
      log.reportStray(
        ["also-with-card"], in: fields, "in a rule without \"alert\"",
        expected: "it beside alert: sent to phones whose card says the same aloud")
    }
    let contact = fields["unless-contact-within"].map { log.contact($0) }
    guard let name, let app, let when, let what, let data, let expires else {
      return Draft(name: name)
    }
    let rule = Rule(
      name: name.text, app: App(rawValue: app.text), when: when, what: what, data: data,
      expires: expires, collapse: collapse, isSentWithCard: (isSentWithCard ?? false) ?? false,
      unlessContactWithin: contact ?? nil,
      source: "\(log.file):\(node.location.line)")
    return Draft(name: name, rule: rule)
  }

  private func required(_ key: String, in fields: Fields, expected: String) -> YAMLNode? {
    if let node = fields[key] { return node }
    if fields.meant.contains(key) { return nil }
    let title = fields["name"]?.string.map { "the rule \(quoted($0))" } ?? "a rule"
    log.report(fields.location, "\(title) has no \(key)", expected: expected)
    return nil
  }

  private func collapse(_ node: YAMLNode) -> TextTemplate? {
    let example = "a text of at most 64 bytes such as \"ride-{{ride.id}}\""
    guard let template = log.text(node, for: "collapse", expected: example) else { return nil }
    let literals = template.segments.map { segment in
      if case .literal(let text) = segment { text } else { "" }
    }
    let size = literals.reduce(0) { $0 + $1.utf8.count }
    if size > 64 {
      let part = template.placeholders.isEmpty ? "" : " beside its placeholders"
      log.report(
        node.location, "collapse has \(size) bytes\(part)",
        expected: "at most 64: APNs refuses a longer collapse ID")
    } else if literals.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }) {
      log.report(
        node.location, "collapse holds a line break or control character",
        expected: "one line: it is sent as a header")
    }
    return template
  }
}
