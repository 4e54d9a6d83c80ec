import RideCore

/// Decodes `android` next to a live-activity.
struct AndroidLookDecoder: FileDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary

  func look(_ field: Field, isBroadcast: Bool) -> AndroidLook? {
    let fields = Fields(
      field.node, as: KeyTable.androidCard,
      elsewhere: KeyTable.androidAlert.each(belongs: "it next to alert"),
      diagnostics: diagnostics)
    guard let fields else { return nil }
    if isBroadcast {
      diagnostics.report(
        field.location, "android next to a broadcast card",
        expected: "the rule without it: Android phones receive no broadcasts")
    }
    for field in fields.present(fields.keys) {
      guard let other = field.key.excludedBy.first(where: { fields[$0] != nil }) else { continue }
      fields.reportMisplaced(field, "next to \(quoted(other))")
    }
    var look = AndroidLook()
    look.title = fields["title"].flatMap(text)
    look.text = fields["text"].flatMap(text)
    look.shortText = fields["short-text"].flatMap(text)
    look.color = fields["color"].flatMap(color)
    look.countdown = fields["countdown"].flatMap(countdown)
    look.steps = fields["steps"].map(steps) ?? []
    if let field = fields["progress"] {
      _ = fields.partner(of: field)
      look.progress = progress(field)
    }
    return look
  }

  // MARK: texts

  private func text(_ field: Field) -> LocalizedText? { text(field.node, field.name) }

  private func text(_ node: YAMLNode, _ name: String) -> LocalizedText? {
    let text = templates.localizedText(node, for: name)
    check(text?.texts.flatMap(\.text.placeholders) ?? [], name, node)
    return text
  }

  /// Reports what would be outdated when the card is sent again, or before that.
  private func check(_ placeholders: [Placeholder], _ name: String, _ node: YAMLNode) {
    if let path = placeholders.first(where: \.isOfEvent)?.path {
      diagnostics.report(
        node.location, "{{\(path)}} in \(name)",
        expected: "the ride's own values: a card is sent again without an event, before it is stale"
      )
    }
    if let path = placeholders.first(where: { $0.filters.contains(.relative) })?.path {
      diagnostics.report(
        node.location, "{{\(path) | relative}} in \(name)",
        expected: "countdown with this time: a card is not sent again as the minutes pass")
    }
  }

  private func color(_ field: Field) -> LocalizedText? {
    guard let text = templates.text(field) else { return nil }
    check(text.placeholders, field.name, field.node)
    if let literal = text.literalText, !Self.isColor(literal) {
      diagnostics.report(
        field.node.location, "color is \(quoted(literal))",
        expected: "a color such as \"#1f7a4d\": # and six hexadecimal digits")
    }
    return LocalizedText(text)
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#")
      && text.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  // MARK: values

  private func countdown(_ field: Field) -> TextTemplate? {
    guard let (text, placeholder) = placeholder(field) else { return nil }
    let isTime =
      switch placeholder.source {
      case .ride(.pickupAt), .ride(.updatedAt), .entered: true
      case .ride: false
      default: placeholder.declared.map { $0 == .time } ?? true
      }
    if isTime, Self.isText(placeholder) {
      diagnostics.report(
        field.node.location, "countdown has a filter that makes a text of the time",
        expected: "the time itself: the phone counts down to it")
    } else if !isTime {
      reportType(of: placeholder, field, "which is not a time")
    }
    return text
  }

  /// Whether a filter turns the value into words.
  private static func isText(_ placeholder: Placeholder) -> Bool {
    placeholder.filters.contains {
      switch $0 {
      case .fallback, .epoch, .int: false
      default: true
      }
    }
  }

  private func progress(_ field: Field) -> TextTemplate? {
    guard let (text, placeholder) = placeholder(field) else { return nil }
    let isNumber =
      switch placeholder.source {
      case .ride, .entered: false
      default: placeholder.declared.map { $0 == .number } ?? true
      }
    if !isNumber || Self.isText(placeholder) {
      reportType(of: placeholder, field, "which is not a number")
    }
    return text
  }

  private func reportType(of placeholder: Placeholder, _ field: Field, _ reason: String) {
    guard case .placeholder(let expected) = field.key.form else { return }
    diagnostics.report(
      field.node.location,
      "\(field.name) is {{\(placeholder.path)}}, "
        + (placeholder.declared.map { "declared as \($0.word)" } ?? reason),
      expected: expected)
  }

  /// Reads one placeholder and nothing else.
  private func placeholder(_ field: Field) -> (TextTemplate, Placeholder)? {
    guard case .placeholder(let expected) = field.key.form else { return nil }
    let text = field.node.string.map { _ in
      templates.text(field.node, for: field.name, expected: expected)
    }
    if text == .some(nil) { return nil }
    guard let text = text ?? nil, let placeholder = text.solePlaceholder else {
      return field.refused(expected)
    }
    check([placeholder], field.name, field.node)
    return (text, placeholder)
  }

  // MARK: steps

  private func steps(_ field: Field) -> [AndroidLook.Step] {
    guard case .steps(let form) = field.key.form, case .sequence(let nodes) = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: field.name,
        expected: "a list of states such as [driver_en_route, driver_arrived]")
      return []
    }
    if nodes.isEmpty {
      diagnostics.report(
        field.node.location, "\(field.name) is an empty list", expected: "at least one state")
    }
    var steps: [AndroidLook.Step] = []
    for node in nodes {
      guard let (word, label) = step(node, form), isActive(word) else { continue }
      if steps.contains(where: { $0.state == word.text }) {
        diagnostics.report(
          word.location, "\(quoted(word.text)) for the second time in \(field.name)",
          expected: "it once")
      }
      steps.append(AndroidLook.Step(state: word.text, label: label))
    }
    return steps
  }

  private func step(
    _ node: YAMLNode, _ form: MappingForm
  ) -> (LocatedWord, LocalizedText?)? {
    guard case .mapping = node.kind else {
      return decode.word(node, for: "an entry of steps", form: .event).map { ($0, nil) }
    }
    guard let fields = Fields(node, as: form, diagnostics: diagnostics),
      let word = fields.required("at").flatMap(decode.word)
    else { return nil }
    return (word, fields["label"].flatMap(text))
  }

  private func isActive(_ word: LocatedWord) -> Bool {
    if !vocabulary.isComplete || vocabulary.active.contains(word.text) { return true }
    let kind = vocabulary.final.contains(word.text) ? "the final state" : "the unknown state"
    diagnostics.report(
      word.location, "steps names \(kind) \(quoted(word.text))",
      expected: "one of the active states: \(vocabulary.active.joined(separator: ", "))",
      word: word.text, among: vocabulary.active)
    return false
  }
}
