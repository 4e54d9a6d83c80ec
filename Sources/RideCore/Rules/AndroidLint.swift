import Base

/// Warnings about pushes that Android phones receive otherwise than their rule intends, or not at all.
enum AndroidLint {
  /// Returns all warnings, in the order of the rules.
  static func all(about rules: RuleSet) -> [RuleLint] {
    rules.rules.flatMap { rule in
      lints.flatMap { $0(rule) }.map { path, text in
        var lint = RuleLint(rule: rule.name, source: rule.source, text: text)
        lint.path = path
        return lint
      }
    } + channels(in: rules)
  }

  /// What a warning is about, by the keys that lead to it, and its text.
  private typealias Warning = (path: [String], text: String)

  private static let lints: [@Sendable (_ rule: Rule) -> [Warning]] = [
    { reserved($0) }, { keys($0) }, { alert($0) }, { background($0) }, { card($0) }, { size($0) },
  ]

  /// Warns about keys of `data` that FCM refuses, or that the app would read another value of.
  private static func reserved(_ rule: Rule) -> [Warning] {
    guard rule.reachesAndroid else { return [] }
    return rule.data.keys.filter(AndroidData.isReserved).sorted().map { key in
      (
        ["data", key],
        "the key \(key.quotedBrief) in data is not sent to Android: FCM or RidePulse keeps it to "
          + "itself, and the push is suppressed there; rename it"
      )
    }
  }

  /// Warns about keys of texts that no Android resource can have.
  private static func keys(_ rule: Rule) -> [Warning] {
    var keys: [(path: [String], key: Alert.LocalizedKey?)] = []
    switch rule.what {
    case .alert(let alert, _):
      keys = [
        (["alert", "title-loc-key"], alert.titleKey), (["alert", "loc-key"], alert.bodyKey),
      ]
    case .liveActivity(let life):
      for (event, alert) in life.alerts.sorted(by: { $0.key < $1.key }) {
        let path = ["live-activity", "alerts", event]
        keys += [
          (path + ["title-loc-key"], alert.titleKey), (path + ["loc-key"], alert.bodyKey),
        ]
      }
    default: break
    }
    return keys.compactMap { path, key in
      guard let name = key?.key.literalText, !isResource(name), let last = path.last else {
        return nil
      }
      return (
        path,
        "\(last) \(name.quotedBrief) can't name a string of an Android app: such names have letters, "
          + "digits and _, and no digit first"
      )
    }
  }

  private static func isResource(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
        || $0 == 0x5f
    }
  }

  /// Warns about parts of an alert that Android lacks.
  private static func alert(_ rule: Rule) -> [Warning] {
    guard case .alert(let alert, _) = rule.what else { return [] }
    var warnings: [Warning] = []
    if alert.subtitleKey != nil {
      warnings.append(
        (
          ["alert", "subtitle-loc-key"],
          "subtitle-loc-key is left out on Android, whose alerts have a title and a body; write "
            + "subtitle, or put it into the body"
        ))
    }
    if !alert.hasText {
      let key = alert.badge == nil ? "sound" : "badge"
      warnings.append(
        (
          ["alert", key],
          "\(key) without a text reaches iPhones only: Android shows it next to an alert"
        ))
    }
    if let sound = alert.sound?.name.literalText, sound != "default",
      rule.android?.channel == nil
    {
      warnings.append(
        (
          ["alert", "sound"],
          "the sound \(sound.quotedBrief) is not played on Android, where a channel has its own; "
            + "write android: { channel: … } with a channel of that sound"
        ))
    }
    return warnings
  }

  /// Warns about background pushes that wake phones at once.
  private static func background(_ rule: Rule) -> [Warning] {
    guard rule.what == .background, rule.android?.isHighPriority == true else { return [] }
    return [
      (
        ["android", "priority"],
        "priority high next to background: Google demotes apps whose high-priority messages show "
          + "nothing"
      )
    ]
  }

  /// Warns about cards that Android phones do not show, or that are sent too often.
  private static func card(_ rule: Rule) -> [Warning] {
    guard case .liveActivity(let life) = rule.what else { return [] }
    if life.broadcast != nil {
      return [
        (
          ["live-activity", "broadcast"],
          "Android phones show no card of it: FCM has no broadcast channels"
        )
      ]
    }
    var warnings: [Warning] = []
    if life.start.isEmpty {
      warnings.append(
        (
          ["live-activity"],
          "live-activity without start: Android phones show no card, because there a push starts it"
        ))
    }
    let urgent = max(1, Set(life.urgent + life.alerts.keys).count)
    let perMinute = Int64(urgent) * 60_000_000 / max(1, life.minInterval.microseconds)
    if perMinute > messagesPerMinute {
      warnings.append(
        (
          ["live-activity", "min-interval"],
          "min-interval \(life.minInterval.rideText) with \(urgent) urgent events allows "
            + "\(perMinute) pushes a minute; FCM takes \(messagesPerMinute) for a phone"
        ))
    }
    return warnings
  }

  /// Warns about a message that nears FCM's limit if its values are long.
  private static func size(_ rule: Rule) -> [Warning] {
    guard rule.reachesAndroid else { return [] }
    var size = ownKeys + rule.payload.size(ofPlaceholder: RuleLint.plausible.value)
    size += rule.android?.template.size(ofPlaceholder: RuleLint.plausible.value) ?? 0
    if case .liveActivity(let life) = rule.what, let look = life.android {
      // A line of a card has no room for more.
      size += look.template.size(ofPlaceholder: RuleLint.plausible.name)
    }
    guard size > nearLimit else { return [] }
    return [
      (
        [],
        "its message to Android phones has about \(size) bytes if values have "
          + "\(RuleLint.plausible.value); \(AndroidSize.limit) are allowed"
      )
    ]
  }

  /// Warns about more channels than a person would look through.
  private static func channels(in rules: RuleSet) -> [RuleLint] {
    var channels: Set<String> = []
    for rule in rules.rules {
      guard case .alert(let alert, _) = rule.what else { continue }
      channels.insert(rule.android?.channel ?? AndroidChannel(alert).rawValue)
    }
    guard channels.count > mostChannels else { return [] }
    return [
      RuleLint(
        text: "the rules have \(channels.count) notification channels on Android: "
          + "\(channels.sorted().joined(separator: ", ")); people find what they want to turn off "
          + "among \(mostChannels) at most")
    ]
  }

  private static let nearLimit = 3600
  /// About the bytes of the keys that RidePulse adds, and of their values.
  private static let ownKeys = 200
  private static let messagesPerMinute: Int64 = 240
  private static let mostChannels = 8
}

extension RuleSet {
  /// Whether any rule has `android`.
  var namesAndroid: Bool {
    rules.contains { rule in
      if case .liveActivity(let life) = rule.what, life.android != nil { return true }
      return rule.android != nil
    }
  }
}

extension Rule {
  /// Whether an Android phone receives its pushes.
  fileprivate var reachesAndroid: Bool {
    switch what {
    case .alert, .background: true
    case .liveActivity(let life): life.broadcast == nil
    case .toExtension, .emit, .post: false
    }
  }
}
