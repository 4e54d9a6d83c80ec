import Base
internal import RideCore

/// Decodes `end` of a card: the events that end it, alone or each with how long the card stays and
/// what it shows then.
struct CardEndDecoder: FileDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary

  /// - Parameter card: its `content-state` is complete, because the changed fields are of its types.
  func decode(
    _ field: Field, into card: inout LiveActivity, _ cardFields: inout CardFieldDecoder
  ) {
    guard case .ends(let form, let longest, let why) = field.key.form else { return }
    guard case .mapping(let pairs) = field.node.kind else {
      card.end = vocabulary.events(
        decode.oneOrMoreWords(field), of: field.name, diagnostics: diagnostics)
      return
    }
    if pairs.isEmpty {
      diagnostics.report(
        field.node.location, "\(field.name) is an empty map", expected: "at least one event")
    }
    func dismissal(_ node: YAMLNode, _ title: String) -> Duration? {
      decode.time(node, for: title, such: "15m or 0s", limit: (longest, why), allowsZero: true)
    }
    let ends = vocabulary.byEvent(field, expected: "duration", diagnostics: diagnostics) {
      ($0, $1)
    }
    for (event, (node, title)) in ends.sorted(by: { $0.key < $1.key }) {
      guard case .mapping = node.kind else {
        card.dismissals[event] = dismissal(node, title)
        continue
      }
      guard let end = Fields(node, as: form, of: title, diagnostics: diagnostics) else { continue }
      card.dismissals[event] = end["dismiss"].flatMap { dismissal($0.node, "\(title).dismiss") }
      if let content = end["content"] {
        card.endContents[event] = changes(
          content, "\(title).content", at: event, of: card, &cardFields)
      }
    }
    card.end = pairs.map(\.key)
  }

  /// Reads the fields that an ended card shows otherwise, each of the type that it has in
  /// `content-state`.
  private func changes(
    _ content: Field, _ title: String, at event: String, of card: LiveActivity,
    _ cardFields: inout CardFieldDecoder
  ) -> [String: PayloadTemplate] {
    guard case .mapping(let pairs) = content.node.kind else {
      diagnostics.reportType(
        of: content.node, for: title, expected: "a mapping such as { status: no_driver_found }")
      return [:]
    }
    let known = card.contentState.keys.sorted()
    let states = vocabulary.isComplete ? Set(vocabulary.active + vocabulary.final + [event]) : nil
    var changes: [String: PayloadTemplate] = [:]
    for pair in pairs {
      let path = "\(title).\(shortened(pair.key))"
      guard let field = card.contentState[pair.key]?.cardField else {
        diagnostics.report(
          pair.keyLocation, "\(path), which content-state does not have",
          expected: known.isEmpty
            ? "a field of content-state" : "one of \(known.joined(separator: ", "))",
          word: pair.key, among: known)
        continue
      }
      let value = cardFields.replacement(pair.value, of: field, path, states: states)
      if let placeholder = value?.placeholders.first(where: \.isOfEvent) {
        diagnostics.report(
          pair.value.location, "{{\(placeholder.path)}} in \(path)",
          expected: "the ride's own values: an end may be sent again without its event")
      }
      changes[pair.key] = value
    }
    return changes
  }
}
