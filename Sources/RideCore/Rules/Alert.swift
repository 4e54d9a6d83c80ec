import Base

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

  /// What is heard.
  package struct Sound: Hashable, Sendable {
    /// `default`, or a file in the app.
    package var name: TextTemplate
    /// `critical: 1`: heard although the phone is silent; Apple must approve the app for it.
    package var isCritical = false
    /// `volume` of a critical sound, from 0 to 1.
    package var volume: Double?

    package init(_ name: TextTemplate, isCritical: Bool = false, volume: Double? = nil) {
      self.name = name
      self.isCritical = isCritical
      self.volume = volume
    }

    fileprivate var template: PayloadTemplate {
      let name = PayloadTemplate.visible(LocalizedText(name))
      if !isCritical { return name }
      var members: [String: PayloadTemplate] = ["critical": .literal(.integer(1)), "name": name]
      members["volume"] = volume.map { .literal(.number($0)) }
      return .object(members)
    }
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

    /// `loc-args`: the phone fills them into a text of its own language.
    var argumentTemplate: PayloadTemplate {
      .array(arguments.map { .visible(LocalizedText($0, isForPeople: true)) })
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
  /// `sound`.
  package var sound: Sound?
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
  /// `content-available: 1`: the push also wakes the app.
  package var contentAvailable = false
  /// `target-content-id`.
  package var targetContentID: TextTemplate?

  /// Creates an empty alert; it needs a text, a sound or a badge to be worth sending.
  package init() {}
}

extension Alert {
  /// The `aps` dictionary as a template.
  package var aps: PayloadTemplate {
    var alert: [String: PayloadTemplate] = [:]
    alert["title"] = title.map { .visible($0.forPeople) }
    alert["subtitle"] = subtitle.map { .visible($0.forPeople) }
    alert["body"] = body.map { .visible($0.forPeople) }
    for (prefix, key) in [("title-", titleKey), ("subtitle-", subtitleKey), ("", bodyKey)] {
      guard let key else { continue }
      alert[prefix + "loc-key"] = .visible(LocalizedText(key.key))
      if key.arguments.isEmpty { continue }
      alert[prefix + "loc-args"] = key.argumentTemplate
    }
    var aps: [String: PayloadTemplate] = [:]
    // A push may have a badge or a sound alone.
    if !alert.isEmpty { aps["alert"] = .object(alert) }
    aps["sound"] = sound?.template
    // A phone ignores a text in `badge`, so a number in the rule file stays a number.
    aps["badge"] = badge.map { badge in
      badge.literalText.flatMap(Int64.init).map { .literal(.integer($0)) } ?? .value(badge)
    }
    aps["interruption-level"] = interruptionLevel.map { .literal(.string($0.rawValue)) }
    aps["thread-id"] = threadID.map { .visible(LocalizedText($0)) }
    aps["category"] = category.map { .visible(LocalizedText($0)) }
    aps["relevance-score"] = relevanceScore.map { .literal(.number($0)) }
    if mutableContent { aps["mutable-content"] = .literal(.integer(1)) }
    if contentAvailable { aps["content-available"] = .literal(.integer(1)) }
    aps["target-content-id"] = targetContentID.map { .visible(LocalizedText($0)) }
    return .object(aps)
  }

  /// The priority of a push whose rule states none: what neither sounds nor breaks through can wait
  /// until it suits the phone, and iOS plays no sound for a passive alert.
  var defaultPriority: PushPriority {
    switch interruptionLevel {
    case .timeSensitive, .critical: .immediate
    case .passive: .powerAware
    case .active, nil: sound == nil ? .powerAware : .immediate
    }
  }
}
