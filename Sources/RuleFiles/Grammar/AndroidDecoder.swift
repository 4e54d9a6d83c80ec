import RideCore

/// Decodes `android` next to an alert or a background push.
struct AndroidDecoder: FileDecoder {
  let diagnostics: Diagnostics

  /// - Parameters:
  ///   - form: the keys next to what the rule sends.
  ///   - escalates: whether the rule has `escalate`.
  func style(
    _ field: Field, as form: MappingForm, escalates: Bool = false
  ) -> AndroidStyle? {
    let fields = Fields(
      field.node, as: form,
      elsewhere: KeyTable.androidCard.each(belongs: "it next to live-activity")
        .merging(KeyTable.androidAlert.each(belongs: "it next to alert")) { $1 },
      diagnostics: diagnostics)
    guard let fields else { return nil }
    var style = AndroidStyle()
    style.draw = fields["draw"].flatMap { decode.choice($0, of: AndroidStyle.Drawing.self) }
    style.channel = fields["channel"].flatMap(decode.word)?.text
    style.image = fields["image"].flatMap(image)
    style.clickAction = fields["click-action"].flatMap(templates.text).map { LocalizedText($0) }
    style.isHighPriority = fields["priority"]
      .flatMap { decode.choice($0, of: AndroidPriority.self) }.map { $0 == .high }
    if escalates, style.draw == .system, let field = fields["draw"] {
      diagnostics.report(
        field.node.location, "draw: system next to escalate",
        expected: "draw: app, or no draw: the app is not run for an alert that the system draws, "
          + "so it can't report it as seen")
    }
    return style
  }

  /// Reads a URL, and reports one that can't begin with `https://`.
  private func image(_ field: Field) -> LocalizedText? {
    guard let image = templates.localizedText(field) else { return nil }
    let scheme = "https://"
    for (_, text) in image.texts {
      guard case .literal(let start)? = text.segments.first else { continue }
      let isWhole = text.segments.count == 1
      if start.hasPrefix(scheme) || !isWhole && scheme.hasPrefix(start) { continue }
      diagnostics.report(
        field.node.location, "image is \(quoted(start))",
        expected: "a URL that begins with \(scheme): Android loads no other")
    }
    return image
  }
}
