/// A text as it is written in a rule file: before its strings are filled in.
package struct TextSource {
  package enum Part: Hashable {
    case segment(TextTemplate.Segment)
    /// `{{strings.KEY}}`, and the offset of its path in the text.
    case string(key: String, offset: Int)
  }

  package let parts: [Part]
  /// The errors in it, in the order of the text.
  package let errors: [TemplateError]

  /// - Parameter attributes: The attributes that there are; nil allows any.
  package init(_ text: String, attributes: DeclaredAttributes? = nil) {
    var parser = TemplateParser(text, attributes)
    parts = parser.parse()
    errors = parser.errors
  }

  /// Whether it names a string.
  package var namesString: Bool {
    parts.contains { if case .string = $0 { true } else { false } }
  }

  /// The text, if it has no error and names no string.
  package var template: Result<TextTemplate, TemplateError> {
    let strings = parts.lazy.compactMap { part -> TemplateError? in
      guard case .string(let key, let offset) = part else { return nil }
      return TemplateError(
        offset: offset, found: "strings.\(key)",
        expected: "a value of the ride or the event: strings are for texts that people read")
    }
    if let error = (errors + strings).min(by: { $0.offset < $1.offset }) { return .failure(error) }
    return .success(
      TextTemplate(
        segments: parts.compactMap { if case .segment(let segment) = $0 { segment } else { nil } }))
  }
}
