import RideCore

/// A word of a file and its location.
struct PlacedWord {
  let text: String
  let location: SourceLocation
}

extension Diagnostics {
  /// Decodes a word of the given form.
  func word(_ node: YAMLNode, for key: String, form: WordForm) -> PlacedWord? {
    guard let text = node.string, form.allows(text) else {
      let repaired = node.string.flatMap(form.repaired)
      reportType(of: node, for: key, expected: form.rule, nearest: repaired)
      return nil
    }
    return PlacedWord(text: text, location: node.location)
  }

  /// Decodes a list of distinct words; wrong or repeated ones are reported and left out.
  func words(_ node: YAMLNode, for key: String, form: WordForm) -> [PlacedWord] {
    guard case .sequence(let elements) = node.kind else {
      reportType(of: node, for: key, expected: "a list such as [driver_assigned, ride_started]")
      return []
    }
    if elements.isEmpty {
      report(node.location, "\(key) is an empty list", expected: "at least one entry")
    }
    var first: [String: SourceLocation] = [:]
    return elements.compactMap { element in
      guard let word = self.word(element, for: "an entry of \(key)", form: form) else { return nil }
      guard let location = first.updateValue(word.location, forKey: word.text) else { return word }
      first[word.text] = location
      report(
        word.location, "\(quoted(word.text)) for the second time in \(key)",
        expected: "it once (the first is at line \(location.line))")
      return nil
    }
  }

  /// Decodes one word, or a list of words.
  func oneOrMoreWords(_ node: YAMLNode, for key: String, form: WordForm) -> [PlacedWord] {
    switch node.kind {
    case .sequence: words(node, for: key, form: form)
    case .mapping:
      reportWrongWord(node, key)
    default: word(node, for: key, form: form).map { [$0] } ?? []
    }
  }

  private func reportWrongWord(_ node: YAMLNode, _ key: String) -> [PlacedWord] {
    reportType(of: node, for: key, expected: "an event such as driver_arrived, or a list of events")
    return []
  }

  /// Decodes one of a fixed set of words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: YAMLNode, for key: String, of _: Choice.Type
  ) -> Choice? {
    if let choice = node.string.flatMap(Choice.init) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    reportType(of: node, for: key, expected: alternatives(known), among: known)
    return nil
  }

  /// Decodes `true` or `false`.
  func flag(_ node: YAMLNode, for key: String) -> Bool? {
    if case .scalar(let scalar) = node.kind, case .bool(let flag) = scalar.value { return flag }
    reportType(of: node, for: key, expected: "true or false")
    return nil
  }

  /// Decodes `never-store` or a duration.
  func expiry(_ node: YAMLNode) -> RuleExpiry? {
    if node.string == "never-store" { return .neverStore }
    if let duration = node.string.flatMap(Duration.init(rideText:)) { return .after(duration) }
    reportType(
      of: node, for: "expires", expected: "a duration such as 5m or 1h30m, or never-store",
      among: ["never-store"])
    return nil
  }

  /// Decodes how recent a contact from the phone must be to withhold the push.
  func contact(_ node: YAMLNode) -> Duration? {
    if let duration = node.string.flatMap(Duration.init(rideText:)) { return duration }
    reportType(of: node, for: "unless-contact-within", expected: "a duration such as 5m or 90s")
    return nil
  }

  /// Decodes 10 or 5.
  func priority(_ node: YAMLNode) -> PushPriority? {
    if case .scalar(let scalar) = node.kind, case .integer(let number) = scalar.value,
      let priority = Int(exactly: number).flatMap(PushPriority.init)
    {
      return priority
    }
    reportType(of: node, for: "priority", expected: "10 (at once) or 5 (when it suits the phone)")
    return nil
  }
}
