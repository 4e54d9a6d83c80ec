import RideCore

/// Decodes `live-activity:`, the whole life of a card.
struct CardReader {
  /// The keys of `live-activity:`, in the order in which messages list them.
  static let keys = [
    "attributes-type", "attributes", "content-state", "start", "end", "stale-after",
    "dismiss-after", "min-interval", "urgent", "urgent-per-hour", "alerts", "lost-after",
    "relevance-score", "input-push-token", "input-push-channel", "broadcast", "channel-storage",
    "while",
  ]

  let log: Diagnostics
  let vocabulary: Vocabulary

  func card(_ node: YAMLNode) -> LiveActivity? {
    let ofTheRule = RuleReader.keys.map { ($0, "it in the rule, beside live-activity") }
    guard
      let fields = Fields(
        node, of: "live-activity", known: Self.keys,
        elsewhere: Dictionary(uniqueKeysWithValues: ofTheRule), log: log)
    else { return nil }
    let before = log.problems.count
    let type = required("attributes-type", in: fields, such: "RideAttributes").flatMap(typeName)
    var card = LiveActivity(attributesType: type ?? "")
    let state = required("content-state", in: fields, such: "{ status: \"{{ride.state}}\" }")
    card.contentState = state.flatMap { members($0, "content-state", events: false) } ?? [:]
    card.attributes =
      fields["attributes"].flatMap { members($0, "attributes", events: true) } ?? [:]
    card.start = events("start", in: fields)
    card.end = events("end", in: fields)
    card.urgent = events("urgent", in: fields)
    readTimes(fields, into: &card)
    readManner(fields, into: &card)
    card.alerts = fields["alerts"].map(alerts) ?? [:]
    readBroadcast(fields, into: &card)
    return log.problems.count == before && type != nil ? card : nil
  }

  private func required(_ key: String, in fields: Fields, such example: String) -> YAMLNode? {
    if let node = fields[key] { return node }
    if !fields.meant.contains(key) {
      log.report(fields.location, "live-activity without \(key)", expected: "\(key): \(example)")
    }
    return nil
  }

  private func typeName(_ node: YAMLNode) -> String? {
    if let text = node.string, let first = text.first, first.isLetter || first == "_",
      text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
    {
      return text
    }
    log.reportType(
      of: node, for: "attributes-type",
      expected: "the name of the app's ActivityAttributes type, such as RideAttributes")
    return nil
  }

  /// Decodes an object with placeholders.
  ///
  /// - Parameter events: whether an event is available when the object is filled in.
  private func members(
    _ node: YAMLNode, _ key: String, events: Bool
  ) -> [String: PayloadTemplate]? {
    let members = log.object(node, for: key)
    let paths = members.map { PayloadTemplate.object($0).placeholders } ?? []
    if !events, let path = paths.first(where: \.isOfEvent)?.path {
      log.report(
        node.location, "{{\(path)}} in \(key)",
        expected: "the ride's own values: a card is sent again without an event, before it is stale"
      )
    }
    return members
  }

  /// Decodes a list of events; a state counts as the event of its name.
  private func events(_ key: String, in fields: Fields) -> [String] {
    guard let node = fields[key] else { return [] }
    let words = log.oneOrMoreWords(node, for: key, form: .event)
    for word in words { requireKnown(word.text, word.location, key) }
    return words.map(\.text)
  }

  private func requireKnown(_ event: String, _ location: SourceLocation, _ key: String) {
    let known = vocabulary.events.sorted()
    if vocabulary.isComplete, !known.contains(event) {
      log.report(
        location, "\(key) names the unknown event \(quoted(event))",
        expected: "one of \(known.joined(separator: ", "))", word: event, among: known)
    }
  }

  private func readTimes(_ fields: Fields, into card: inout LiveActivity) {
    func time(_ key: String, atMost limit: Duration, _ why: String) -> Duration? {
      guard let node = fields[key] else { return nil }
      guard let duration = node.string.flatMap(Duration.init(rideText:)) else {
        log.reportType(of: node, for: key, expected: "a duration such as 15s, 2m or 1h30m")
        return nil
      }
      if duration > limit {
        log.report(
          node.location, "\(key) is \(duration.rideText)",
          expected: "at most \(limit.rideText): \(why)")
      }
      return duration
    }
    card.staleAfter = time(
      "stale-after", atMost: LiveActivity.ageLimit, "iOS ends a card after eight hours")
    card.dismissAfter = time(
      "dismiss-after", atMost: LiveActivity.dismissalLimit,
      "iOS takes an ended card away after four hours")
    if let interval = time(
      "min-interval", atMost: .seconds(3600), "a card is to show how things stand")
    {
      card.minInterval = interval
    }
    if let lost = time(
      "lost-after", atMost: LiveActivity.ageLimit, "iOS ends a card after eight hours")
    {
      card.lostAfter = lost
    }
  }

  private func readManner(_ fields: Fields, into card: inout LiveActivity) {
    if let node = fields["urgent-per-hour"] {
      if case .scalar(let scalar) = node.kind, case .integer(let count) = scalar.value,
        (1...1000).contains(count)
      {
        card.urgentPerHour = Int(count)
      } else {
        log.reportType(of: node, for: "urgent-per-hour", expected: "a whole number from 1 to 1000")
      }
    }
    if let node = fields["relevance-score"] {
      card.relevanceScore = node.number
      if node.number == nil {
        log.reportType(of: node, for: "relevance-score", expected: "a number such as 75")
      }
    }
    card.wantsPushToken =
      fields["input-push-token"].flatMap { log.flag($0, for: "input-push-token") } ?? false
    card.pushChannel = fields["input-push-channel"].flatMap {
      log.text($0, for: "input-push-channel", expected: "a channel ID")
    }
  }

  private func readBroadcast(_ fields: Fields, into card: inout LiveActivity) {
    let isBroadcast = fields["broadcast"].flatMap { log.flag($0, for: "broadcast") } ?? false
    if isBroadcast {
      card.broadcast = fields["channel-storage"].map(storage) ?? .latest
      card.broadcastStates = Set(fields["while"].map(activeStates) ?? [])
      log.reportStray(
        ["start", "input-push-token", "input-push-channel"], in: fields, "beside broadcast",
        expected:
          "the rule without it: a channel starts no card; who watches the ride subscribes to "
          + "its channel in the app")
    } else {
      log.reportStray(
        ["channel-storage", "while"], in: fields, "without broadcast: true",
        expected: "broadcast: true beside it, or the rule without it")
    }
  }

  private func activeStates(_ node: YAMLNode) -> [String] {
    let words = log.oneOrMoreWords(node, for: "while", form: .event)
    for word in words where vocabulary.isComplete && !vocabulary.active.contains(word.text) {
      log.report(
        word.location, "while names \(quoted(word.text)), which is no active state",
        expected: "one of \(vocabulary.active.joined(separator: ", "))", word: word.text,
        among: vocabulary.active)
    }
    return words.map(\.text)
  }

  private func storage(_ node: YAMLNode) -> ChannelStorage {
    if let storage = node.string.flatMap(ChannelStorage.init(rawValue:)) { return storage }
    log.reportType(
      of: node, for: "channel-storage",
      expected: "latest (kept up to eight hours for phones that are away) or none")
    return .latest
  }

  private func alerts(_ node: YAMLNode) -> [String: CardAlert] {
    guard case .mapping(let pairs) = node.kind else {
      log.reportType(
        of: node, for: "alerts",
        expected:
          "a map of event to alert, such as { driver_arrived: { title: Your driver is here } }")
      return [:]
    }
    var alerts: [String: CardAlert] = [:]
    for pair in pairs {
      requireKnown(pair.key, pair.keyPlace, "alerts")
      alerts[pair.key] = log.cardAlert(pair.value, of: "alerts.\(shortened(pair.key))")
    }
    return alerts
  }
}

extension Diagnostics {
  /// The keys of an alert within a card, in the order in which messages list them.
  private static let cardAlertKeys = [
    "title", "body", "title-loc-key", "title-loc-args", "loc-key", "loc-args", "sound",
  ]

  /// Decodes the alert that a card's push shows.
  fileprivate func cardAlert(_ node: YAMLNode, of subject: String) -> CardAlert? {
    let ofAlerts = Self.alertKeys.filter { !Self.cardAlertKeys.contains($0) }.map {
      ($0, "nothing: an alert of a card has a title, a body and a sound")
    }
    guard
      let fields = Fields(
        node, of: subject, known: Self.cardAlertKeys,
        elsewhere: Dictionary(uniqueKeysWithValues: ofAlerts), log: self)
    else { return nil }
    let shown = ["title", "body", "title-loc-key", "loc-key"]
    if !fields.keys.contains(where: shown.contains),
      fields.keys.allSatisfy(Self.cardAlertKeys.contains)
    {
      report(
        node.location, "an alert that shows nothing",
        expected: "at least one of \(shown.joined(separator: ", "))")
    }
    for (text, key) in [("title", "title-loc-key"), ("body", "loc-key")]
    where fields[text] != nil && fields[key] != nil {
      report(
        fields.location(of: key), "\(key) beside \(text)",
        expected: "one of the two: in a card both stand in the same place")
    }
    var alert = CardAlert()
    alert.title = fields["title"].flatMap { localizedText($0, for: "title") }
    alert.body = fields["body"].flatMap { localizedText($0, for: "body") }
    alert.titleKey = localizedKey(fields, "title-")
    alert.bodyKey = localizedKey(fields, "")
    alert.sound = fields["sound"].flatMap(sound)
    return alert
  }
}
