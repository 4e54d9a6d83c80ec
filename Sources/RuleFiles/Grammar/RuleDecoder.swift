import Base
import RideCore

/// Decodes one entry of `rules`.
struct RuleDecoder: FileDecoder {
  let diagnostics: Diagnostics
  let vocabulary: Vocabulary
  let defaults: RuleDefaults

  /// The parts of a rule that could be decoded.
  struct Draft {
    var name: LocatedWord?
    var rule: Rule?
    /// The location of each field of the rule's card; see `CardDecoder.locations`.
    var locations: [[String]: SourceLocation] = [:]
  }

  func draft(_ node: YAMLNode) -> Draft {
    guard case .mapping = node.kind else {
      diagnostics.reportType(
        of: node, for: "an entry of rules", expected: "a mapping that starts with \"name:\"")
      return Draft()
    }
    let fields = Fields(
      node, as: KeyTable.rule, elsewhere: elsewhere(node), diagnostics: diagnostics)
    guard let fields else { return Draft() }
    let name = fields.required("name").flatMap(decode.word)
    let apps = fields.required("app").map(decode.oneOrMore) ?? []
    let action = fields.single(
      of: KeyTable.actions, lack: "what it sends",
      expected: "alert with a title, body or loc-key, background: {}, widgets: {}, controls: {}, "
        + "location: {}, live-activity, emit or post",
      misplaced: KeyTable.alert.names)
    reportMisplaced(fields, action)
    let when = TriggerDecoder(diagnostics: diagnostics, vocabulary: vocabulary).when(fields, action)
    var locations: [[String]: SourceLocation] = [:]
    let what = action.flatMap { self.what($0, fields, &locations) }
    let data = fields["data"].map(templates.payload) ?? [:]
    let expires = self.expires(fields, action)
    let collapse = fields["collapse"].flatMap(templates.collapse)
    let withCard = fields["with-card"].map { decode.choice($0, of: WithCard.self) }
    let condition = ConditionDecoder(
      diagnostics: diagnostics, states: vocabulary.isComplete ? vocabulary.states : nil
    ).condition(fields)
    reportPhone(in: condition, fields, action)
    if case .liveActivity(let life)? = what, life.start.isEmpty, let field = fields["if"] {
      diagnostics.report(
        field.location, "if in a live-activity without start",
        expected: "start within live-activity: if decides whether a card is started")
    }
    let escalation = fields["escalate"].flatMap(self.escalation)
    let android = action.flatMap { self.android($0, fields) }
    reportFurtherApps(apps, action)
    let limits = LimitsDecoder(diagnostics: diagnostics).limits(fields, what, defaults)
    guard let name, let app = apps.first, let when, let what, let data, let expires, let limits
    else {
      return Draft(name: name)
    }
    var rule = Rule(
      name: name.text, app: App(rawValue: app.text), when: when, what: what, data: data,
      expires: expires, collapse: collapse,
      source: "\(diagnostics.file):\(node.location.line)")
    rule.condition = condition
    rule.escalation = escalation
    rule.android = android
    checkEscalation(of: rule, fields["escalate"])
    rule.otherApps = apps.dropFirst().map { App(rawValue: $0.text) }
    rule.limits = limits
    rule.withCard = withCard ?? nil
    PersonAndEntryCheck(diagnostics: diagnostics, vocabulary: vocabulary).check(rule, node)
    return Draft(name: name, rule: rule, locations: locations)
  }

  private func expires(_ fields: Fields, _ action: Field?) -> RuleExpiry? {
    switch action?.name {
    case "emit": return .ofEmit
    case "background" where fields["expires"] == nil: return .ofBackground
    default: return fields.required("expires").flatMap(decode.expiry)
    }
  }

  /// A card belongs to one app, whose activities it updates.
  private func reportFurtherApps(_ apps: [LocatedWord], _ action: Field?) {
    guard action?.name == "live-activity", apps.count > 1 else { return }
    diagnostics.report(
      apps[1].location, "a second app of a live-activity rule",
      expected: "one app: write a rule for the cards of \(apps[1].text)")
  }

  /// The keys that are not of a rule, each with what to write instead.
  private func elsewhere(_ node: YAMLNode) -> [String: String] {
    KeyTable.alert.each(belongs: "it within alert")
      .merging(KeyTable.former(node.pairs)) { $1 }
      .merging(FormerKeys.times(in: node)) { $1 }
      .merging(FormerKeys.conditions(in: node)) { $1 }
  }

  /// Reports keys that have no meaning next to what the rule sends.
  private func reportMisplaced(_ fields: Fields, _ action: Field?) {
    for field in fields.present(fields.keys) {
      let actions = field.key.nextTo.filter(KeyTable.actions.contains)
      if actions.count == 1, fields[actions[0]] == nil {
        fields.reportMisplaced(field, "in a rule without \(quoted(actions[0]))")
      } else if actions.count > 1, let action, !actions.contains(action.name) {
        let isEmit = action.name == "emit" && !["data", "expires"].contains(field.name)
        fields.reportMisplaced(
          field, "in a rule with \(quoted(action.name))",
          expected: isEmit
            ? "nothing: the rule sends no push"
            : action.name == "post" ? "nothing: no phone receives a post" : nil)
      }
    }
  }

  /// Reports a condition that asks for a phone where there is none.
  private func reportPhone(in condition: Condition?, _ fields: Fields, _ action: Field?) {
    guard condition?.readsPhone == true, let field = fields["if"] else { return }
    let reason: String
    switch action?.name {
    case "post": reason = "a post addresses a person, with or without a phone"
    case "emit": reason = "an event has no phone; contact is the owner's last contact"
    case "live-activity": reason = "a card is started with a token that names no phone"
    default: return
    }
    let article = action?.name == "emit" ? "an" : "a"
    diagnostics.report(
      field.node.location, "phone in the if of \(article) \(action?.name ?? "")",
      expected: "a condition without it: \(reason)")
  }

  private func escalation(_ field: Field) -> Escalation? {
    guard case .mapping(let form) = field.key.form,
      let fields = Fields(field.node, as: form, diagnostics: diagnostics)
    else { return nil }
    let limit = fields.required("unless-seen-within").flatMap(decode.duration)
    let event = fields.required("emit").flatMap(decode.word)
      .flatMap { vocabulary.emitted($0, of: "emit in escalate", diagnostics: diagnostics) }
    guard let limit, let event else { return nil }
    return Escalation(unlessSeenWithin: limit, emit: event)
  }

  /// Decodes `android` next to an alert or a background push; that of a card is part of the card.
  private func android(_ action: Field, _ fields: Fields) -> AndroidStyle? {
    guard let field = fields["android"], action.name != "live-activity",
      case .mappingNextTo(let forms) = field.key.form,
      let form = forms.first(where: { $0.key == action.name })?.form
    else { return nil }
    let decoder = AndroidDecoder(diagnostics: diagnostics)
    return decoder.style(field, as: form, escalates: fields["escalate"] != nil)
  }

  /// Reports an escalation that could only come when the rule's pushes are no longer valid.
  private func checkEscalation(of rule: Rule, _ field: Field?) {
    let validity = rule.validity
    guard let limit = rule.escalation?.limit, limit > validity, let field else { return }
    diagnostics.report(
      field.location,
      "escalate after \(limit.rideText), and the push is valid for \(validity.rideText)",
      expected: "unless-seen-within of at most \(validity.rideText), or a longer expires")
  }

  private func what(
    _ action: Field, _ fields: Fields, _ locations: inout [[String]: SourceLocation]
  ) -> Rule.What? {
    if action.name == "live-activity" {
      var decoder = CardDecoder(diagnostics: diagnostics, vocabulary: vocabulary)
      defer { locations = decoder.locations }
      var card = decoder.card(action)
      let isBroadcast = card?.broadcast != nil
      let look = fields["android"].flatMap {
        AndroidLookDecoder(diagnostics: diagnostics, vocabulary: vocabulary)
          .look($0, isBroadcast: isBroadcast)
      }
      card?.android = look
      return card.map { .liveActivity($0) }
    }
    if action.name == "emit" {
      return decode.word(action)
        .flatMap { vocabulary.emitted($0, of: "emit", diagnostics: diagnostics) }
        .map { .emit($0) }
    }
    if action.name == "post" {
      let text = fields["text"].map(templates.localizedText)
      guard let name = decode.word(action), text != .some(nil) else { return nil }
      return .post(Post(receiver: name.text, text: text ?? nil))
    }
    let priority = fields["priority"].flatMap(decode.priority)
    let what: Rule.What?
    if action.name == "alert" {
      what = AlertDecoder(diagnostics: diagnostics).alert(action, of: fields["name"]?.node.string)
        .map {
          .alert($0, priority: priority)
        }
    } else {
      reportContent(action)
      what =
        AppExtension(rawValue: action.name).map { Rule.What.toExtension($0, priority: priority) }
        ?? .background
    }
    if let what, let priority, let field = fields["priority"] {
      check(priority, field, what.pushType)
    }
    return what
  }

  private func check(_ priority: PushPriority, _ field: Field, _ type: PushType) {
    let allowed = type.rules.priorities
    if allowed.contains(priority) { return }
    diagnostics.report(
      field.node.location, "priority \(priority.rawValue) for a \(type.rawValue) push",
      expected:
        "\(alternatives(allowed.map { String($0.rawValue) })), or no priority: Apple refuses "
        + "any other")
  }

  /// Reports whatever an action without content has.
  private func reportContent(_ field: Field) {
    guard case .mapping(let pairs) = field.node.kind else {
      return diagnostics.reportType(
        of: field.node, for: field.name, expected: "an empty mapping: {}")
    }
    let hint =
      switch AppExtension(rawValue: field.name) {
      case .widgets, .controls: "the app reads what changed from its backend"
      case .location, nil: "the app's data goes into data, next to \(field.name)"
      }
    for pair in pairs {
      diagnostics.report(
        pair.keyLocation, "\(quoted(pair.key)) in \(field.name)",
        expected: "nothing in it: the push shows nothing; \(hint)")
    }
  }
}
