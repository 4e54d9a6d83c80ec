/// A text with placeholders: `{{ride.attributes.driver_name | default: 'Your driver'}} is waiting`.
package struct TextTemplate: Hashable, Sendable {
  /// A piece of the text.
  package enum Segment: Hashable, Sendable {
    /// Stands as it is.
    case literal(String)
    /// Is filled in for each push.
    case placeholder(Placeholder)
  }

  /// The pieces, in order; none where the text is empty.
  package let segments: [Segment]

  /// A text that stands as it is, braces and all.
  package init(literal text: String) {
    segments = text.isEmpty ? [] : [.literal(text)]
  }

  /// Reads a text with placeholders.
  ///
  /// - Throws: `TemplateError` for the first thing in it that can't be read.
  package init(_ text: String) throws(TemplateError) {
    var parser = TemplateParser(text)
    segments = try parser.parse()
  }

  /// The placeholder, where the text is one and nothing else: its value keeps its JSON type.
  package var solePlaceholder: Placeholder? {
    guard segments.count == 1, case .placeholder(let placeholder) = segments[0] else { return nil }
    return placeholder
  }

  /// The text, where it has no placeholder.
  package var literalText: String? {
    if segments.isEmpty { return "" }
    guard segments.count == 1, case .literal(let text) = segments[0] else { return nil }
    return text
  }

  /// Every placeholder in it.
  package var placeholders: [Placeholder] {
    segments.compactMap { segment in
      if case .placeholder(let placeholder) = segment { placeholder } else { nil }
    }
  }
}
