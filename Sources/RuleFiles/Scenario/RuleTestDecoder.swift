import Base
import RideCore
import Timeline

/// Decodes the tests of a file.
struct RuleTestDecoder {
  let diagnostics: Diagnostics
  let rules: RuleSet
  /// Whether tests that expect nothing are accepted, to be completed.
  let allowsIncomplete: Bool
  private let decode: NodeDecoder
  private let values: ScenarioValues
  private let scenarios: ScenarioDecoder

  /// The start of tests that state none: a Monday, at noon in UTC.
  static let usualStart = Timestamp(epochSeconds: 1_767_614_400)

  init(diagnostics: Diagnostics, rules: RuleSet, allowsIncomplete: Bool) {
    self.diagnostics = diagnostics
    self.rules = rules
    self.allowsIncomplete = allowsIncomplete
    decode = NodeDecoder(diagnostics: diagnostics)
    values = ScenarioValues(diagnostics: diagnostics)
    scenarios = ScenarioDecoder(diagnostics: diagnostics, rules: rules)
  }

  func tests(_ file: Fields) -> [RuleTest] {
    guard let field = file.required("tests") else { return [] }
    let nodes = values.list(field)
    if nodes.isEmpty, case .sequence = field.node.kind {
      diagnostics.report(field.location, "no test in the file", expected: "at least one")
    }
    var first: [String: SourceLocation] = [:]
    return nodes.compactMap { node in
      guard let fields = Fields(node, as: RuleTestKeys.test, diagnostics: diagnostics),
        let test = test(fields, given: file["given"])
      else { return nil }
      if let location = first[test.name] {
        diagnostics.report(
          fields.location(of: "name"), "the test \(quoted(test.name)) for the second time",
          expected: "a name of its own (the first is at line \(location.line))")
      }
      first[test.name] = fields.location
      return test
    }
  }

  private func test(_ fields: Fields, given: Field?) -> RuleTest? {
    guard let name = fields.required("name").flatMap(values.text) else { return nil }
    let given = Self.merged(fields["given"], over: given)
    guard
      let scenario = scenarios.scenario(given: given, fields, at: Self.usualStart)
    else { return nil }
    let invented = InventedRide(for: rules, at: scenario.start)
    var test = RuleTest(
      name: name, location: fields.location,
      scenario: invented.completed(scenario, withCards: false))
    if let field = fields["only"] {
      test.only = Set(
        decode.oneOrMore(field).filter { scenarios.isKnown($0, "only") }.map(\.text))
    }
    if let field = fields["then"] { test.then = then(field, test) }
    if let field = fields["not-sent"] {
      test.notSent = values.list(field).compactMap { silence($0, test) }
    }
    if fields["then"] == nil, fields["not-sent"] == nil, !allowsIncomplete {
      diagnostics.report(
        fields.location, "the test \(quoted(name)) expects nothing",
        expected: "then or not-sent; then: [] if nothing is sent")
    }
    return test
  }
  private static func merged(_ own: Field?, over base: Field?) -> Field? {
    guard let own, let base else { return own ?? base }
    return Field(key: own.key, location: own.location, node: own.node.merged(over: base.node))
  }

  // MARK: what is sent

  private func then(_ field: Field, _ test: RuleTest) -> RuleTest.Expectation? {
    switch field.node.kind {
    case .sequence(let nodes):
      return .pushes(nodes.compactMap { push($0, test) }, location: field.location)
    case .mapping: return rhythm(field, test).map { .rhythm($0) }
    default:
      diagnostics.reportType(
        of: field.node, for: "then",
        expected: "a list of pushes, or a mapping with count, gap or none-after")
      return nil
    }
  }

  private func push(_ node: YAMLNode, _ test: RuleTest) -> ExpectedPush? {
    guard let entry = Fields(node, as: RuleTestKeys.push, diagnostics: diagnostics),
      let (at, rule) = timeAndRule(entry, test)
    else { return nil }
    var push = ExpectedPush(location: entry.location, at: at, rule: rule.name)
    push.app = app(entry, rule)
    push.owner = entry["owner_id"].flatMap(values.text).map(OwnerID.init)
    push.locale = entry["locale"].flatMap(values.text)
    addShown(entry, to: &push)
    push.card = entry["card"].flatMap { card($0, rule) }
    push.emits = entry["emit"].flatMap { emit($0, rule) }
    if let field = entry["emit"], let other = entry.present(field.key.excludedBy).first {
      entry.reportMisplaced(other, "next to \"emit\"", expected: field.key.otherwise)
    }
    push.receiver = entry["post"].flatMap(decode.word)?.text
    if let field = entry["post"], let other = entry.present(field.key.excludedBy).first {
      entry.reportMisplaced(other, "next to \"post\"", expected: field.key.otherwise)
    }
    if let field = entry["push"],
      let headers = Fields(field.node, as: RuleTestKeys.headers, diagnostics: diagnostics)
    {
      push.type = headers["type"].flatMap { decode.choice($0, of: PushType.self) }
      push.priority = headers["priority"].flatMap(decode.priority)
      push.expires = headers["expires"].flatMap(decode.expiry)
      push.collapse = headers["collapse"].flatMap(values.text)
    }
    if let field = entry["payload"], let payload = values.json(field.node) {
      if case .object = payload {
        push.payload = payload
      } else {
        diagnostics.reportType(
          of: field.node, for: "payload", expected: "a mapping of keys to values")
      }
    }
    return push
  }

  /// Decodes what a phone shows.
  private func addShown(_ entry: Fields, to push: inout ExpectedPush) {
    push.platform = platform(entry)
    push.title = entry["title"].flatMap(values.text)
    push.channel = entry["channel"].flatMap(values.text)
    push.drawnBy = entry["drawn-by"].flatMap {
      decode.choice($0, of: AndroidStyle.Drawing.self)
    }
    push.look = entry["look"].flatMap { scenarios.members($0) }.map { .object($0) }
    guard let field = entry.present(RuleTestKeys.ofAndroid).first else { return }
    if push.platform == .ios {
      entry.reportMisplaced(
        field, "next to platform: ios", expected: "platform: android, which alone has it")
    }
    push.platform = .android
  }

  private func platform(_ entry: Fields) -> Platform? {
    entry["platform"].flatMap { decode.choice($0, of: Platform.self) }
  }

  private func card(_ field: Field, _ rule: Rule) -> CardEvent? {
    guard case .liveActivity = rule.what else {
      diagnostics.report(
        field.location, "card for the rule \(rule.name), which has no live-activity",
        expected: "push and payload, or another rule")
      return nil
    }
    return decode.choice(field, of: CardEvent.self)
  }

  private func emit(_ field: Field, _ rule: Rule) -> String? {
    guard let word = decode.word(field) else { return nil }
    let known = [rule.what.emittedEvent, rule.escalation?.event].compactMap { $0 }
    if known.contains(word.text) { return word.text }
    diagnostics.report(
      word.location, "the rule \(rule.name) does not emit \(quoted(word.text))",
      expected: known.first ?? "a rule with emit or escalate", word: word.text, among: known)
    return nil
  }

  private func rhythm(_ field: Field, _ test: RuleTest) -> ExpectedRhythm? {
    guard let fields = Fields(field.node, as: RuleTestKeys.rhythm, diagnostics: diagnostics) else {
      return nil
    }
    var rhythm = ExpectedRhythm(location: field.location)
    rhythm.count = fields["count"].flatMap(decode.integer)
    rhythm.gap = fields["gap"].flatMap(decode.duration)
    rhythm.tolerance = fields["tolerance"].flatMap(decode.duration) ?? .zero
    rhythm.noneAfter = fields["none-after"].flatMap { values.time($0, from: test.scenario.start) }
    if let field = fields["tolerance"], fields["gap"] == nil {
      fields.reportMisplaced(field, "without \"gap\"")
    }
    if fields.keys.isEmpty {
      diagnostics.report(
        fields.location, "then without a key", expected: "count, gap or none-after")
    }
    return rhythm
  }

  // MARK: what is not sent

  private func silence(_ node: YAMLNode, _ test: RuleTest) -> ExpectedSilence? {
    guard let entry = Fields(node, as: RuleTestKeys.silence, diagnostics: diagnostics),
      let (at, rule) = timeAndRule(entry, nil, test)
    else { return nil }
    var silence = ExpectedSilence(location: entry.location, at: at, rule: rule.name)
    silence.app = app(entry, rule)
    silence.owner = entry["owner_id"].flatMap(values.text).map(OwnerID.init)
    silence.platform = platform(entry)
    silence.reason = entry["reason"].flatMap(values.text)
    return silence
  }

  // MARK: what both have

  private func timeAndRule(_ entry: Fields, _ test: RuleTest) -> (Timestamp, Rule)? {
    timeAndRule(entry, test.only, test)
  }

  /// - Parameter only: the rules that may be named; nil means all.
  private func timeAndRule(
    _ entry: Fields, _ only: Set<String>?, _ test: RuleTest
  ) -> (Timestamp, Rule)? {
    let time = entry.required("at")
    let at = time.flatMap { values.time($0, from: test.scenario.start) }
    guard let word = entry.required("rule").flatMap(decode.word), scenarios.isKnown(word, "rule"),
      let rule = rules.rules.first(where: { $0.name == word.text }), let time, let at
    else { return nil }
    if let only, !only.contains(word.text) {
      diagnostics.report(
        word.location, "the rule \(word.text), which only leaves out",
        expected: "it under only, or one of \(only.sorted().joined(separator: ", "))")
    }
    if let length = test.scenario.length, at > test.scenario.start + length {
      diagnostics.report(
        time.node.location, "\(test.offset(at)), after the end of the test",
        expected: "at most \(length.rideText), as for has it")
    }
    return (at, rule)
  }

  private func app(_ entry: Fields, _ rule: Rule) -> App? {
    guard let word = entry["to"].flatMap(decode.word) else { return nil }
    let known = rule.apps.map(\.rawValue)
    if known.contains(word.text) { return App(rawValue: word.text) }
    diagnostics.report(
      word.location, "the rule \(rule.name) is not for the app \(quoted(word.text))",
      expected: alternatives(known), word: word.text, among: known)
    return nil
  }
}

extension YAMLNode {
  /// Returns the node over another one: keys of mappings are merged, any other value replaces.
  func merged(over base: YAMLNode) -> YAMLNode {
    guard case .mapping(let own) = kind, case .mapping(let others) = base.kind else { return self }
    var pairs = others
    for pair in own {
      if let index = pairs.firstIndex(where: { $0.key == pair.key }) {
        pairs[index] = Pair(
          key: pair.key, keyLocation: pair.keyLocation,
          value: pair.value.merged(over: pairs[index].value), isRepeated: pair.isRepeated)
      } else {
        pairs.append(pair)
      }
    }
    return YAMLNode(location: location, kind: .mapping(pairs))
  }
}
