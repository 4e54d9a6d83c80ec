/// The visible part of an alert push, in the terms of Apple's `aps` dictionary.
package struct Alert: Hashable, Sendable {
  /// `interruption-level`: how far an alert breaks through.
  package enum InterruptionLevel: String, CaseIterable, Hashable, Sendable {
    /// Only added to the list of notifications.
    case passive
    /// Presented as usual.
    case active
    /// Breaks through Focus, if the person allows it.
    case timeSensitive = "time-sensitive"
    /// Breaks through everything; Apple must approve the app for it.
    case critical
  }

  /// A text that the app itself holds in the phone's language, with arguments.
  package struct LocalizedKey: Hashable, Sendable {
    /// The key in the app's `Localizable` strings.
    package var key: TextTemplate
    /// The arguments for each `%@`, in order.
    package var arguments: [TextTemplate]

    package init(key: TextTemplate, arguments: [TextTemplate] = []) {
      self.key = key
      self.arguments = arguments
    }
  }

  /// `alert.title`.
  package var title: LocalizedText?
  /// `alert.subtitle`.
  package var subtitle: LocalizedText?
  /// `alert.body`.
  package var body: LocalizedText?
  /// `alert.title-loc-key` and `title-loc-args`.
  package var titleKey: LocalizedKey?
  /// `alert.subtitle-loc-key` and `subtitle-loc-args`.
  package var subtitleKey: LocalizedKey?
  /// `alert.loc-key` and `loc-args`, for the body.
  package var bodyKey: LocalizedKey?
  /// `sound`: `default`, or a file in the app.
  package var sound: TextTemplate?
  /// `badge`: a whole number, or a placeholder that gives one.
  package var badge: TextTemplate?
  /// `interruption-level`.
  package var interruptionLevel: InterruptionLevel?
  /// `thread-id`.
  package var threadID: TextTemplate?
  /// `category`.
  package var category: TextTemplate?
  /// `relevance-score`, from 0 to 1.
  package var relevanceScore: Double?
  /// `mutable-content: 1`: the app's service extension may change the alert.
  package var mutableContent = false
  /// `target-content-id`.
  package var targetContentID: TextTemplate?

  /// Creates an empty alert; it needs a title, a body or a key to be worth sending.
  package init() {}
}

extension Alert {
  /// The `aps` dictionary as a template.
  package var aps: PayloadTemplate {
    var alert: [String: PayloadTemplate] = [:]
    alert["title"] = title.map { .visible($0) }
    alert["subtitle"] = subtitle.map { .visible($0) }
    alert["body"] = body.map { .visible($0) }
    for (prefix, key) in [("title-", titleKey), ("subtitle-", subtitleKey), ("", bodyKey)] {
      guard let key else { continue }
      alert[prefix + "loc-key"] = .visible(LocalizedText(key.key))
      if key.arguments.isEmpty { continue }
      alert[prefix + "loc-args"] = .array(key.arguments.map { .visible(LocalizedText($0)) })
    }
    var aps: [String: PayloadTemplate] = ["alert": .object(alert)]
    aps["sound"] = sound.map { .visible(LocalizedText($0)) }
    // A phone ignores a text in `badge`, so a number in the rule file stays a number.
    aps["badge"] = badge.map { badge in
      badge.literalText.flatMap(Int64.init).map { .literal(.integer($0)) } ?? .value(badge)
    }
    aps["interruption-level"] = interruptionLevel.map { .literal(.string($0.rawValue)) }
    aps["thread-id"] = threadID.map { .visible(LocalizedText($0)) }
    aps["category"] = category.map { .visible(LocalizedText($0)) }
    aps["relevance-score"] = relevanceScore.map { .literal(.number($0)) }
    if mutableContent { aps["mutable-content"] = .literal(.integer(1)) }
    aps["target-content-id"] = targetContentID.map { .visible(LocalizedText($0)) }
    return .object(aps)
  }
}
