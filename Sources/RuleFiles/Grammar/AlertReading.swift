import RideCore

extension Diagnostics {
  /// The keys of `alert:`, in the order in which messages list them.
  static let alertKeys = [
    "title", "subtitle", "body", "title-loc-key", "title-loc-args", "subtitle-loc-key",
    "subtitle-loc-args", "loc-key", "loc-args", "sound", "badge", "interruption-level",
    "thread-id", "category", "relevance-score", "mutable-content", "target-content-id",
  ]

  /// Decodes what an alert shows.
  func alert(_ node: YAMLNode) -> Alert? {
    let ofTheRule = RuleReader.keys.map { ($0, "it in the rule, beside alert") }
    guard
      let fields = Fields(
        node, of: "alert", known: Self.alertKeys,
        elsewhere: Dictionary(uniqueKeysWithValues: ofTheRule), log: self)
    else { return nil }
    let shown = ["title", "body", "title-loc-key", "loc-key"]
    // A misspelt key was already reported, and may be the missing one.
    if !fields.keys.contains(where: shown.contains),
      fields.keys.allSatisfy(Self.alertKeys.contains)
    {
      report(
        node.location, "an alert that shows nothing",
        expected: "at least one of \(shown.joined(separator: ", "))")
    }
    var alert = Alert()
    alert.title = fields["title"].flatMap { localizedText($0, for: "title") }
    alert.subtitle = fields["subtitle"].flatMap { localizedText($0, for: "subtitle") }
    alert.body = fields["body"].flatMap { localizedText($0, for: "body") }
    alert.titleKey = localizedKey(fields, "title-")
    alert.subtitleKey = localizedKey(fields, "subtitle-")
    alert.bodyKey = localizedKey(fields, "")
    readManner(fields, into: &alert)
    return alert
  }

  /// Decodes the keys that determine how the alert is presented.
  private func readManner(_ fields: Fields, into alert: inout Alert) {
    func text(_ key: String, such example: String) -> TextTemplate? {
      fields[key].flatMap { self.text($0, for: key, expected: "a text such as \(example)") }
    }
    alert.sound = fields["sound"].flatMap(sound)
    alert.badge = fields["badge"].flatMap(badge)
    alert.interruptionLevel = fields["interruption-level"].flatMap {
      choice($0, for: "interruption-level", of: Alert.InterruptionLevel.self)
    }
    alert.threadID = text("thread-id", such: "\"ride-{{ride.id}}\"")
    alert.category = text("category", such: "RIDE_OFFER")
    alert.relevanceScore = fields["relevance-score"].flatMap(relevance)
    alert.mutableContent =
      fields["mutable-content"].flatMap { flag($0, for: "mutable-content") } ?? false
    alert.targetContentID = text("target-content-id", such: "\"ride-{{ride.id}}\"")
  }

  func localizedKey(_ fields: Fields, _ prefix: String) -> Alert.LocalizedKey? {
    let (keyName, listName) = (prefix + "loc-key", prefix + "loc-args")
    var arguments: [TextTemplate] = []
    if let list = fields[listName] {
      if fields[keyName] == nil {
        report(
          fields.location(of: listName), "\(listName) without \(keyName)",
          expected: "\(keyName) beside it: the text that the arguments are filled into")
      }
      if case .sequence(let elements) = list.kind {
        arguments = elements.compactMap { text($0, for: "an entry of \(listName)") }
      } else {
        reportType(of: list, for: listName, expected: "a list of texts")
      }
    }
    let key = fields[keyName].flatMap {
      text($0, for: keyName, expected: "a key of the app's strings, such as DRIVER_ARRIVED")
    }
    return key.map { Alert.LocalizedKey(key: $0, arguments: arguments) }
  }

  func sound(_ node: YAMLNode) -> TextTemplate? {
    let expected = "default, or a sound file of the app such as horn.caf"
    if case .mapping = node.kind {
      report(
        node.location,
        "sound is a mapping, Apple's form for critical alerts, which is not supported",
        expected: expected)
      return nil
    }
    return text(node, for: "sound", expected: expected)
  }

  private func badge(_ node: YAMLNode) -> TextTemplate? {
    guard case .scalar(let scalar) = node.kind else {
      reportType(of: node, for: "badge", expected: Self.badgeForm)
      return nil
    }
    switch scalar.value {
    case .integer(let number) where number >= 0: return TextTemplate(literal: String(number))
    case .string(let text) where text.contains("{{"):
      guard let template = template(node, for: "badge") else { return nil }
      if template.solePlaceholder != nil { return template }
    default: break
    }
    reportType(of: node, for: "badge", expected: Self.badgeForm)
    return nil
  }

  private static let badgeForm = "a whole number from 0 on, or one placeholder and nothing else"

  private func relevance(_ node: YAMLNode) -> Double? {
    if let number = node.number, (0...1).contains(number) { return number }
    reportType(of: node, for: "relevance-score", expected: "a number from 0 to 1")
    return nil
  }
}
