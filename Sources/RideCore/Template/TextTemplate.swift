/// A text with placeholders: `{{ride.attributes.driver_name | default: 'Your driver'}} is waiting`.
package struct TextTemplate: Hashable, Sendable {
  /// A part of the text.
  package enum Segment: Hashable, Sendable {
    /// Constant text.
    case literal(String)
    /// A placeholder to be filled in for each push.
    case placeholder(Placeholder)
  }

  /// The parts, in order; empty if the text is empty.
  package let segments: [Segment]

  /// Creates a constant text; braces in it have no special meaning.
  package init(literal text: String) {
    segments = text.isEmpty ? [] : [.literal(text)]
  }

  /// Parses a text with placeholders.
  ///
  /// - Throws: `TemplateError` for the first error in it.
  package init(_ text: String) throws(TemplateError) {
    var parser = TemplateParser(text)
    segments = try parser.parse()
  }

  /// The placeholder, if the text consists of a single one: its value keeps its JSON type.
  package var solePlaceholder: Placeholder? {
    guard segments.count == 1, case .placeholder(let placeholder) = segments[0] else { return nil }
    return placeholder
  }

  /// The text, if it has no placeholder.
  package var literalText: String? {
    if segments.isEmpty { return "" }
    guard segments.count == 1, case .literal(let text) = segments[0] else { return nil }
    return text
  }

  package var placeholders: [Placeholder] {
    segments.compactMap { segment in
      if case .placeholder(let placeholder) = segment { placeholder } else { nil }
    }
  }
}
