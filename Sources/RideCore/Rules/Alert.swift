/// The visible part of an alert push, in the words of Apple's `aps` dictionary.
public struct Alert: Hashable, Sendable {
  /// `interruption-level`: how far an alert breaks through.
  public enum InterruptionLevel: String, CaseIterable, Hashable, Sendable {
    /// Into the list only.
    case passive
    /// As usual.
    case active
    /// Through Focus, where the person allows it.
    case timeSensitive = "time-sensitive"
    /// Through everything; Apple must approve the app for it.
    case critical
  }

  /// A text that the app itself holds in the phone's language, with arguments to fill in.
  public struct LocalizedKey: Hashable, Sendable {
    /// The key in the app's `Localizable` strings.
    public var key: TextTemplate
    /// What is filled in for each `%@`, in order.
    public var arguments: [TextTemplate]

    /// A key with its arguments.
    public init(key: TextTemplate, arguments: [TextTemplate] = []) {
      self.key = key
      self.arguments = arguments
    }
  }

  /// `alert.title`.
  public var title: LocalizedText?
  /// `alert.subtitle`.
  public var subtitle: LocalizedText?
  /// `alert.body`.
  public var body: LocalizedText?
  /// `alert.title-loc-key` and `title-loc-args`.
  public var titleKey: LocalizedKey?
  /// `alert.subtitle-loc-key` and `subtitle-loc-args`.
  public var subtitleKey: LocalizedKey?
  /// `alert.loc-key` and `loc-args`: the body's.
  public var bodyKey: LocalizedKey?
  /// `sound`: `default`, or a file in the app.
  public var sound: TextTemplate?
  /// `badge`: a whole number, or a placeholder that gives one.
  public var badge: TextTemplate?
  /// `interruption-level`.
  public var interruptionLevel: InterruptionLevel?
  /// `thread-id`.
  public var threadID: TextTemplate?
  /// `category`.
  public var category: TextTemplate?
  /// `relevance-score`, from 0 to 1.
  public var relevanceScore: Double?
  /// `mutable-content: 1`: the app's service extension may change it.
  public var mutableContent = false
  /// `target-content-id`.
  public var targetContentID: TextTemplate?

  /// An alert with nothing in it yet; it needs a title, a body or a key to be worth sending.
  public init() {}
}

extension Alert {
  /// The `aps` dictionary, before it is filled in.
  public var aps: PayloadTemplate {
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
    // A text in `badge` would be ignored by the phone: a number that stands in the file stays one.
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
