import Base

extension TemplateContext {
  /// Returns the text with its placeholders filled in.
  ///
  /// - Parameters:
  ///   - formats: how times and numbers are written; a program's by default.
  ///   - direction: the direction of a text for people, in which values are isolated.
  func text(
    of template: TextTemplate, in formats: LocaleFormats = .neutral,
    _ direction: TextDirection? = nil
  ) throws(RenderingError) -> String {
    if let literal = template.literalText { return literal }
    var text = ""
    for segment in template.segments {
      switch segment {
      case .literal(let literal): text += literal
      case .placeholder(let placeholder):
        let value = try value(of: placeholder, in: formats)
        // Inside a text, null would read as a word.
        if value == .null { throw .missing(placeholder.path) }
        // The words of `select` and `plural` are the text's own, in its language and direction.
        if let direction, !placeholder.choosesWords {
          direction.append(value.text, to: &text)
        } else {
          text += value.text
        }
      }
    }
    return text
  }
}
