import Base
import RideCore

/// Decodes `live-activity`, the whole life of a card.
struct CardDecoder: FileDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary
  private var cardFields: CardFieldDecoder

  init(diagnostics: Diagnostics, vocabulary: Vocabulary) {
    self.diagnostics = diagnostics
    self.vocabulary = vocabulary
    cardFields = CardFieldDecoder(diagnostics: diagnostics)
  }

  /// The location of each field of the card, and of its type, whose path is empty.
  private(set) var locations: [[String]: SourceLocation] = [:]

  mutating func card(_ field: Field) -> LiveActivity? {
    let fields = Fields(
      field.node, as: KeyTable.liveActivity,
      elsewhere: KeyTable.rule.each(belongs: "it in the rule, next to live-activity")
        .merging(KeyTable.former(field.node.pairs)) { $1 },
      diagnostics: diagnostics)
    guard let fields else { return nil }
    let before = diagnostics.problems.count
    let type = fields.required("attributes-type").flatMap(typeName)
    var card = LiveActivity(attributesType: type ?? "")
    card.contentState = fields.required("content-state").flatMap { contentState($0) } ?? [:]
    card.attributes = fields["attributes"].flatMap { cardFields.fields($0) } ?? [:]
    locations = cardFields.locations
    locations[[]] = fields["attributes-type"]?.node.location
    card.start = fields["start"].map(events) ?? []
    if let field = fields["end"] {
      CardEndDecoder(diagnostics: diagnostics, vocabulary: vocabulary)
        .decode(field, into: &card, &cardFields)
    }
    card.urgent = fields["urgent"].map(events) ?? []
    if let field = fields["stale-after"] { decodeStaleAfter(field, into: &card) }
    card.dismissAfter = fields["dismiss-after"].flatMap(decode.duration)
    card.minInterval = fields["min-interval"].flatMap(decode.duration) ?? card.minInterval
    card.lostAfter = fields["lost-after"].flatMap(decode.duration)
    card.urgentPerHour = fields["urgent-per-hour"].flatMap(decode.integer)
    card.from = fields["from"].flatMap(opening)
    card.relevanceScore = fields["relevance-score"].flatMap(decode.number)
    card.relevance = fields["relevance"].map(relevance) ?? [:]
    card.wantsPushToken = fields["input-push-token"].flatMap(decode.flag) ?? false
    card.pushChannel = fields["input-push-channel"].flatMap(templates.text)
    card.alerts = fields["alerts"].map(alerts) ?? [:]
    decodeBroadcast(fields, into: &card)
    // Without its own token a started card could only be updated through a channel.
    if fields["input-push-token"] == nil {
      card.wantsPushToken = card.broadcast == nil && card.pushChannel == nil
    }
    return diagnostics.problems.count == before && type != nil ? card : nil
  }

  /// Names that the generated source uses: a type of such a name would hide what it needs.
  private static let takenNames: Set<String> = [
    "Activity", "ActivityAttributes", "ActivityKit", "Any", "Array", "Bool", "Boolean", "Codable",
    "CodingKey", "CodingKeys", "Companion", "ContentState", "Date", "Decodable", "Decoder",
    "Dictionary", "Double", "Encodable", "Encoder", "Equatable", "Float", "Foundation", "Hashable",
    "Identifiable", "Int", "Int64", "JSONArray", "JSONException", "JSONObject", "JSONValue", "List",
    "Long", "Map", "Never", "Number", "Optional", "Protocol", "RideState", "Self", "Sendable",
    "Set", "String", "Suppress", "Swift", "TimeInterval", "Type", "UInt64", "URL", "UUID", "Void",
  ]

  private func typeName(_ field: Field) -> String? {
    // A type within a type is named after the last part.
    let last = field.node.string?.split(separator: ".").last.map(String.init)
    if let text = field.node.string, let last, Self.takenNames.contains(last) {
      diagnostics.report(
        field.node.location, "\(text) as \(field.name)",
        expected:
          "the name of a type of the app, such as RideAttributes: Swift, Kotlin, ActivityKit "
          + "or the generated file has one of this name")
      return nil
    }
    if let text = field.node.string, let first = text.first, first.isLetter || first == "_",
      text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
    {
      return text
    }
    return field.refused("the name of the app's ActivityAttributes type, such as RideAttributes")
  }

  private mutating func contentState(_ field: Field) -> [String: PayloadTemplate]? {
    let members = cardFields.fields(field)
    let paths = members.map { PayloadTemplate.object($0).placeholders } ?? []
    if let path = paths.first(where: \.isOfEvent)?.path {
      diagnostics.report(
        field.node.location, "{{\(path)}} in \(field.name)",
        expected: "the ride's own values: a card is sent again without an event, before it is stale"
      )
    }
    let placeholders = members.map { PayloadTemplate.object($0).placeholders } ?? []
    if let path = placeholders.first(where: { $0.filters.contains(.relative) })?.path {
      diagnostics.report(
        field.node.location, "{{\(path) | relative}} in \(field.name)",
        expected: "the time itself, which the app counts down to: a card is not sent again as the "
          + "minutes pass")
    }
    return members
  }

  private func events(_ field: Field) -> [String] {
    vocabulary.events(decode.oneOrMoreWords(field), of: field.name, diagnostics: diagnostics)
  }

  private func alerts(_ field: Field) -> [String: CardAlert] {
    byEvent(field, expected: "alert, such as { driver_arrived: { title: Your driver is here } }") {
      AlertDecoder(diagnostics: diagnostics).cardAlert($0, of: $1)
    }
  }

  private func relevance(_ field: Field) -> [String: Double] {
    byEvent(field, expected: "number, such as { driver_arrived: 100 }") { node, path in
      if let number = node.number { return number }
      diagnostics.reportType(of: node, for: path, expected: "a number such as 100")
      return nil
    }
  }

  /// Decodes how long content stays fresh, by state or in all states.
  private func decodeStaleAfter(_ field: Field, into card: inout LiveActivity) {
    guard case .durationByState(let example, let limit) = field.key.form else { return }
    func duration(_ node: YAMLNode, _ title: String) -> Duration? {
      decode.time(node, for: title, such: example, limit: limit)
    }
    guard case .mapping(let pairs) = field.node.kind else {
      card.staleAfter = duration(field.node, field.name)
      return
    }
    for pair in pairs {
      let value = duration(pair.value, "\(field.name).\(shortened(pair.key))")
      if pair.key == "default" {
        card.staleAfter = value
      } else if vocabulary.isComplete, !vocabulary.active.contains(pair.key) {
        diagnostics.report(
          pair.keyLocation, "\(field.name) names \(quoted(pair.key)), which is not an active state",
          expected: "default, or one of \(vocabulary.active.joined(separator: ", "))",
          word: pair.key, among: ["default"] + vocabulary.active)
      } else {
        card.staleAfterByState[pair.key] = value
      }
    }
  }

  private func opening(_ field: Field) -> CardOpening? {
    if let opening = field.node.string.flatMap({ CardOpening(text: $0) }) {
      if case .attribute(let keys) = opening.time {
        diagnostics.require(
          .time, "from counts from it", keys, in: field.name, at: field.node.location)
      }
      return opening
    }
    return field.refused(
      "a time of the ride with an offset, such as pickup_at - 45m or attributes.gate_at")
  }

  /// Decodes a map whose keys are events.
  private func byEvent<Value>(
    _ field: Field, expected: String, _ value: (YAMLNode, _ path: String) -> Value?
  ) -> [String: Value] {
    vocabulary.byEvent(field, expected: expected, diagnostics: diagnostics, value)
  }

  private func decodeBroadcast(_ fields: Fields, into card: inout LiveActivity) {
    let isBroadcast = fields["broadcast"].flatMap(decode.flag) ?? false
    for field in fields.present(fields.keys) {
      if isBroadcast, field.key.excludedBy.contains("broadcast") {
        fields.reportMisplaced(field, "next to broadcast")
      } else if card.wantsPushToken, field.key.excludedBy.contains("input-push-token") {
        fields.reportMisplaced(
          field, "next to input-push-token",
          expected: "one of the two: a started card has a token of its own or follows a channel")
      } else if !isBroadcast, field.key.nextTo == ["broadcast"] {
        fields.reportMisplaced(field, "without broadcast: true")
      }
    }
    guard isBroadcast else { return }
    let shown = [
      "attributes": Array(card.attributes.values), "content-state": Array(card.contentState.values),
      "end": card.endContents.values.flatMap(\.values),
    ]
    for field in fields.present(Array(shown.keys))
    where shown[field.name]?.contains(where: \.isLocalized) == true {
      diagnostics.report(
        field.location, "texts in several languages in \(field.name), next to broadcast",
        expected: "one text, or a key of the app's strings: all phones get the same content")
    }
    for field in fields.present(Array(shown.keys))
    where shown[field.name]?.flatMap(\.placeholders).contains(where: \.readsPhoneZone) == true {
      diagnostics.report(
        field.location, "a time of the phone's clock in \(field.name), next to broadcast",
        expected: "the time without phone, or in a named zone: all phones get the same content")
    }
    let storage = fields["channel-storage"].map {
      decode.choice(
        $0, of: ChannelStorage.self,
        expected: "latest (kept up to eight hours for phones that are away) or none")
    }
    card.broadcast = (storage ?? nil) ?? .latest
    card.broadcastStates = Set(fields["while"].map(activeStates) ?? [])
  }

  private func activeStates(_ field: Field) -> [String] {
    let words = decode.oneOrMoreWords(field)
    for word in words where vocabulary.isComplete && !vocabulary.active.contains(word.text) {
      diagnostics.report(
        word.location, "while names \(quoted(word.text)), which is not an active state",
        expected: "one of \(vocabulary.active.joined(separator: ", "))", word: word.text,
        among: vocabulary.active)
    }
    return words.map(\.text)
  }
}
