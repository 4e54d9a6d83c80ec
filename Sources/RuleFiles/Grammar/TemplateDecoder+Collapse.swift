import RideCore

extension TemplateDecoder {
  /// Reads a collapse ID, and reports one that APNs can't take.
  func collapse(_ field: Field) -> TextTemplate? {
    guard let template = text(field) else { return nil }
    let literals = template.segments.map { segment in
      if case .literal(let text) = segment { text } else { "" }
    }
    let size = literals.reduce(0) { $0 + $1.utf8.count }
    if size > 64 {
      let part = template.placeholders.isEmpty ? "" : " without its placeholders"
      diagnostics.report(
        field.node.location, "collapse has \(size) bytes\(part)",
        expected: "at most 64: APNs refuses a longer collapse ID")
    } else if literals.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }) {
      diagnostics.report(
        field.node.location, "collapse contains a line break or control character",
        expected: "one line: it is sent as a header")
    } else if template.placeholders.contains(where: \.readsPhoneZone) {
      diagnostics.report(
        field.node.location, "collapse shows a time of the phone's clock",
        expected: "one collapse ID for all phones: the time without phone, or in a named zone")
    }
    return template
  }
}
