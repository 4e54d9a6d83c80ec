import RideCore

/// Decodes `alert`, and the alerts of a card.
struct AlertDecoder: FileDecoder {
  let diagnostics: Diagnostics

  /// - Parameter rule: the name of the rule, by which `strings/` has the texts of an alert without any.
  func alert(_ field: Field, of rule: String?) -> Alert? {
    let fields = Fields(
      field.node, as: KeyTable.alert,
      elsewhere: KeyTable.rule.each(belongs: "it in the rule, next to alert"),
      diagnostics: diagnostics)
    guard let fields else { return nil }
    var alert = Alert()
    alert.title = fields["title"].flatMap(templates.localizedText)
    alert.subtitle = fields["subtitle"].flatMap(templates.localizedText)
    alert.body = fields["body"].flatMap(templates.localizedText)
    addStrings(of: rule, to: &alert, fields)
    alert.titleKey = localizedKey("title-", fields)
    alert.subtitleKey = localizedKey("subtitle-", fields)
    alert.bodyKey = localizedKey("", fields)
    alert.sound = fields["sound"].flatMap(sound)
    alert.badge = fields["badge"].flatMap(badge)
    alert.interruptionLevel = fields["interruption-level"].flatMap {
      decode.choice($0, of: Alert.InterruptionLevel.self)
    }
    alert.threadID = fields["thread-id"].flatMap(templates.text)
    alert.category = fields["category"].flatMap(templates.text)
    alert.relevanceScore = fields["relevance-score"].flatMap(decode.number)
    alert.mutableContent = fields["mutable-content"].flatMap(decode.flag) ?? false
    alert.contentAvailable = fields["content-available"].flatMap(decode.flag) ?? false
    alert.targetContentID = fields["target-content-id"].flatMap(templates.text)
    return alert
  }

  /// - Parameter path: what messages call the alert, such as `alerts.driver_arrived`.
  func cardAlert(_ node: YAMLNode, of path: String) -> CardAlert? {
    let fields = Fields(
      node, as: KeyTable.cardAlert, of: path,
      elsewhere: KeyTable.alert.each(
        belongs: "nothing: an alert of a card has a title, a body and a sound"),
      diagnostics: diagnostics)
    guard let fields else { return nil }
    fields.requireShown(fields.form.atLeastOne)
    for field in fields.present(fields.keys) {
      guard let other = field.key.excludedBy.first(where: { fields[$0] != nil }) else { continue }
      fields.reportMisplaced(field, "next to \(quoted(other))")
    }
    var alert = CardAlert()
    alert.title = fields["title"].flatMap(templates.localizedText)
    alert.body = fields["body"].flatMap(templates.localizedText)
    alert.titleKey = localizedKey("title-", fields)
    alert.bodyKey = localizedKey("", fields)
    alert.sound = fields["sound"].flatMap(cardSound)
    return alert
  }

  /// Gives an alert that states no text those of the rule's name, and reports one that shows nothing.
  private func addStrings(of rule: String?, to alert: inout Alert, _ fields: Fields) {
    let texts = diagnostics.texts
    let keys = ["title", "body"].map { "\(rule ?? "").\($0)" }
    let isNamed = keys.contains(where: texts.isInDefaultLocale)
    let isStated = !fields.present(KeyTable.alertTexts).isEmpty
    if isNamed, let rule, !isStated {
      alert.title = texts.localized("\(rule).title")
      alert.subtitle = texts.localized("\(rule).subtitle")
      alert.body = texts.localized("\(rule).body")
      return
    }
    // An unreadable file of `strings/` was already reported, and may have the texts.
    guard rule == nil || isNamed || texts.isComplete else { return }
    // Strings of the name with none for `defaults.locale` are a mistake, also next to a sound.
    let hasStrings = (keys + ["\(rule ?? "").subtitle"]).contains { texts.strings[$0] != nil }
    let needsText = hasStrings && !isNamed && !isStated
    let file = "strings/\(texts.defaultLocale ?? texts.locales.first ?? "en").yaml"
    fields.requireShown(
      needsText ? KeyTable.texts : KeyTable.shown,
      or: rule == nil ? nil : "\(keys.joined(separator: " or ")) in \(file)")
  }

  private func localizedKey(_ prefix: String, _ fields: Fields) -> Alert.LocalizedKey? {
    let arguments = fields[prefix + "loc-args"]
    if let arguments { _ = fields.partner(of: arguments) }
    let texts = arguments.map(templates.texts) ?? []
    guard let field = fields[prefix + "loc-key"], let key = templates.text(field) else {
      return nil
    }
    if let literal = key.literalText {
      diagnostics.texts.record(
        TextCatalog.KeyUse(
          file: diagnostics.file, location: field.node.location, name: field.name, key: literal,
          argumentCount: texts.count))
    }
    return Alert.LocalizedKey(key: key, arguments: texts)
  }

  /// Reads the name of a sound, or Apple's form for critical alerts.
  private func sound(_ field: Field) -> Alert.Sound? {
    guard case .mapping = field.node.kind else {
      return templates.text(field).map { Alert.Sound($0) }
    }
    let fields = Fields(field.node, as: KeyTable.criticalSound, diagnostics: diagnostics)
    guard let fields else { return nil }
    let name = fields.required("name").flatMap(templates.text)
    let isCritical = fields.required("critical").flatMap(decode.one)
    let volume = fields["volume"].flatMap(decode.number)
    guard let name, let isCritical else { return nil }
    return Alert.Sound(name, isCritical: isCritical, volume: volume)
  }

  private func cardSound(_ field: Field) -> TextTemplate? {
    guard case .mapping = field.node.kind, case .text(let expected) = field.key.form else {
      return templates.text(field)
    }
    diagnostics.report(
      field.node.location, "sound is a mapping, Apple's form for critical alerts, which cards lack",
      expected: expected)
    return nil
  }

  private func badge(_ field: Field) -> TextTemplate? {
    if let number = field.node.integer, number >= 0 {
      return TextTemplate(literal: String(number))
    }
    if field.node.string?.contains("{{") == true {
      guard let template = templates.template(field.node, for: field.name) else { return nil }
      if template.solePlaceholder != nil { return template }
    }
    return field.refused("a whole number from 0 on, or one placeholder and nothing else")
  }
}
