import Base
import RideCore
import Timeline

/// Decodes the tests of a file.
struct RuleTestDecoder {
  let diagnostics: Diagnostics
  let rules: RuleSet
  /// Whether tests that expect nothing are accepted, to be completed.
  let allowsIncomplete: Bool

  /// The start of tests that state none: a Monday, at noon in UTC.
  static let usualStart = Timestamp(epochSeconds: 1_767_614_400)

  private var scenarios: ScenarioDecoder {
    ScenarioDecoder(diagnostics: diagnostics, rules: rules, isOfTest: true)
  }

  func tests(_ file: Fields) -> [RuleTest] {
    let given = file.value("given", .later(.mapping(ScenarioKeys.given)))
    let tests = file.value(
      "tests", .later(.mappings(RuleTestKeys.test)),
      required: "tests: a list of mappings with name, when and then")
    let never = file.value("never", .mapping(RuleTestKeys.never)).map(limits) ?? []
    guard let tests else { return [] }
    if case .sequence(let nodes) = tests.node.kind, nodes.isEmpty {
      diagnostics.report(tests.location, "no test in the file", expected: "at least one")
    }
    var first: [String: SourceLocation] = [:]
    let entries = ValueType.mappings(RuleTestKeys.test).read(tests) ?? []
    return entries.compactMap { fields in
      guard var test = test(fields, given: given) else { return nil }
      test.never = never
      if let location = first[test.name] {
        diagnostics.report(
          fields.location(of: "name"), "the test \(quoted(test.name)) for the second time",
          expected: "a name of its own (the first is at line \(location.line))")
      }
      first[test.name] = fields.location
      return test
    }
  }

  private func limits(_ never: Fields) -> [ScreenLimit] {
    if never.keys.isEmpty {
      diagnostics.report(
        never.location, "never without a key",
        expected: "at least one of \(never.form.names.joined(separator: ", "))")
    }
    return NeverDecoder.limits(never)
  }

  func test(_ fields: Fields, given: Field?) -> RuleTest? {
    let name = fields.value("name", .plainText, required: "name: what the test shows")
    let own = fields.value("given", .later(.mapping(ScenarioKeys.given)))
    let when = fields.value("when", .mappings(ScenarioKeys.step))
    let only = fields.value("only", .oneOrMore(.ruleName, such: "[driver-heartbeat]"))
    let then = fields.value("then", .later(.mappings(RuleTestKeys.push)))
    let notSent = fields.value("not-sent", .mappings(RuleTestKeys.silence))
    let length = fields.value("for", .duration(such: "10m or 1h30m"))
    guard let name else { return nil }
    let scenario = scenarios.scenario(
      given: Self.merged(own, over: given), when: when, length: length, at: Self.usualStart)
    let invented = InventedRide(for: rules, at: scenario.start)
    var test = RuleTest(
      name: name, location: fields.location,
      scenario: invented.completed(scenario, withCards: false))
    test.only = only.map { Set($0.filter { scenarios.isKnown($0, "only") }.map(\.text)) }
    if let then { addThen(then, to: &test) }
    test.notSent = (notSent ?? []).compactMap { silence($0, test) }
    if then == nil, notSent == nil, !allowsIncomplete {
      diagnostics.report(
        fields.location, "the test \(quoted(name)) expects nothing",
        expected: "then or not-sent; then: [] if nothing is sent")
    }
    return test
  }

  private static func merged(_ own: Field?, over base: Field?) -> Field? {
    guard let own, let base else { return own ?? base }
    return Field(
      key: own.key, location: own.location, node: own.node.merged(over: base.node),
      diagnostics: own.diagnostics)
  }

  // MARK: what is sent

  private func addThen(_ field: Field, to test: inout RuleTest) {
    switch field.node.kind {
    case .sequence:
      let entries = ValueType.mappings(RuleTestKeys.push).read(field) ?? []
      let pushes = entries.compactMap { pushOrScreens($0, &test) }
      // What phones show does not state what is sent.
      if !pushes.isEmpty || test.screens.isEmpty {
        test.then = .pushes(pushes, location: field.location)
      }
    case .mapping:
      test.then = ValueType.mapping(RuleTestKeys.rhythm).read(field)
        .map { .rhythm(rhythm($0, at: field.location, test)) }
    default:
      test.then = field.refused("a list of pushes, or a mapping with count, gap or none-after")
    }
  }

  /// Returns a push; what an entry expects of screens is added to the test.
  private func pushOrScreens(_ entry: Fields, _ test: inout RuleTest) -> ExpectedPush? {
    guard let field = screen(entry) else {
      // An entry whose key was meant to be screen has no rule.
      return entry.isMisspelt("screen") ? nil : push(entry, test)
    }
    if let other = entry.present(field.key.excludedBy).first {
      entry.reportMisplaced(other, "next to \"screen\"", expected: field.key.otherwise)
    }
    test.screens += ScreenDecoder(diagnostics: diagnostics, test: test)
      .screens(field, at: entry.required("at"))
    return nil
  }

  func screen(_ entry: Fields) -> Field? {
    entry.value(
      "screen", .later(.payload()),
      excludedBy: ["rule", "to", "owner_id", "locale", "card", "emit", "post", "push", "payload"]
        + Self.shown,
      otherwise: "an entry with at and screen alone")
  }

  func push(_ entry: Fields, _ test: RuleTest) -> ExpectedPush? {
    let head = head(entry, test.only, test)
    if head == nil, !entry.listsKeys { return nil }
    var push = ExpectedPush(
      location: entry.location, at: head?.at ?? test.scenario.start, rule: head?.rule.name ?? "")
    (push.app, push.owner) = (head?.app, head?.owner)
    push.locale = entry.value("locale", .plainText)
    push.platform = entry.value("platform", .choice)
    let card = entry.value("card", .later(ValueType<CardEvent>.choice.form))
    let emit = entry.value(
      "emit", .later(.word(.event)),
      excludedBy: ["to", "card", "push", "payload", "locale"] + Self.shown,
      otherwise: "an emitted event alone: nothing is sent with it")
    let post = entry.value(
      "post", .later(.word(.receiver)), excludedBy: ["card", "emit", "push"] + Self.shown,
      otherwise: "it without the headers of APNs: payload is the body")
    for field in [emit, post].compactMap({ $0 }) {
      guard let other = entry.present(field.key.excludedBy).first else { continue }
      entry.reportMisplaced(
        other, "next to \(quoted(field.name))", expected: field.key.otherwise)
    }
    push.receiver = post.flatMap(ValueType.word(.receiver).read)?.text
    if let headers = entry.value("push", .mapping(RuleTestKeys.headers)) {
      addHeaders(headers, to: &push)
    }
    push.payload = entry.value("payload", .members).map { .object($0) }
    addShown(entry, to: &push)
    guard let rule = head?.rule else { return nil }
    push.card = card.flatMap { self.card($0, rule) }
    push.emits = emit.flatMap { self.emit($0, rule) }
    return push
  }

  /// What a phone shows, which neither an event nor a post does.
  private static let shown = ["platform", "title"] + ofAndroid
  /// The keys of which each is about Android phones only.
  private static let ofAndroid = ["channel", "drawn-by", "look"]

  func addHeaders(_ headers: Fields, to push: inout ExpectedPush) {
    push.type = headers.value("type", .choice)
    push.priority = headers.value("priority", .priority)
    push.expires = headers.value("expires", .expiry)
    push.collapse = headers.value("collapse", .plainText)
  }

  /// Decodes what a phone shows.
  private func addShown(_ entry: Fields, to push: inout ExpectedPush) {
    push.title = entry.value("title", .plainText)
    push.channel = entry.value("channel", .plainText)
    push.drawnBy = entry.value("drawn-by", .choice)
    push.look = entry.value("look", .members).map { .object($0) }
    guard let field = entry.present(Self.ofAndroid).first else { return }
    if push.platform == .ios {
      entry.reportMisplaced(
        field, "next to platform: ios", expected: "platform: android, which alone has it")
    }
    push.platform = .android
  }

  private func card(_ field: Field, _ rule: Rule) -> CardEvent? {
    guard case .liveActivity = rule.what else {
      diagnostics.report(
        field.location, "card for the rule \(rule.name), which has no live-activity",
        expected: "push and payload, or another rule")
      return nil
    }
    return ValueType.choice.read(field)
  }

  private func emit(_ field: Field, _ rule: Rule) -> String? {
    let known = [rule.what.emittedEvent, rule.escalation?.event].compactMap { $0 }
    guard let word = ValueType.word(.event).read(field),
      scenarios.isKnown(
        word, among: known, "the rule \(rule.name) does not emit",
        expected: known.first ?? "a rule with emit or escalate")
    else { return nil }
    return word.text
  }

  func rhythm(
    _ fields: Fields, at location: SourceLocation, _ test: RuleTest
  ) -> ExpectedRhythm {
    var rhythm = ExpectedRhythm(location: location)
    rhythm.count = fields.value("count", .integer(0...1_000_000))
    rhythm.gap = fields.value("gap", .duration(such: "20m"))
    let tolerance = fields.value(
      "tolerance", .later(.duration(such: "20m")), nextTo: ["gap"], otherwise: "it next to gap")
    rhythm.tolerance = tolerance.flatMap(ValueType.duration(such: "20m").read) ?? .zero
    rhythm.noneAfter = fields.value("none-after", .time(from: test.scenario.start))
    if let tolerance, fields.present(tolerance.key.nextTo).isEmpty {
      fields.reportMisplaced(tolerance, "without \"gap\"")
    }
    if fields.keys.isEmpty {
      diagnostics.report(
        fields.location, "then without a key", expected: "count, gap or none-after")
    }
    return rhythm
  }

  // MARK: what is not sent

  func silence(_ entry: Fields, _ test: RuleTest) -> ExpectedSilence? {
    let head = head(entry, nil, test)
    let platform: Platform? = entry.value("platform", .choice)
    let reason = entry.value("reason", .plainText)
    guard let head else { return nil }
    var silence = ExpectedSilence(location: entry.location, at: head.at, rule: head.rule.name)
    (silence.app, silence.owner) = (head.app, head.owner)
    (silence.platform, silence.reason) = (platform, reason)
    return silence
  }

  // MARK: what both have

  private typealias Head = (at: Timestamp, rule: Rule, app: App?, owner: OwnerID?)

  /// - Parameter only: the rules that may be named; nil means all.
  private func head(_ entry: Fields, _ only: Set<String>?, _ test: RuleTest) -> Head? {
    let time = entry.value("at", .later(.rideTime), required: "at: 10m, or 0s at the start")
    let at = time.flatMap(ValueType.time(from: test.scenario.start).read)
    let word = entry.value("rule", .word(.ruleName), required: "rule: the name of a rule")
    let app = entry.value("to", .word(.app))
    let owner = entry.value("owner_id", .owner)
    guard let word, scenarios.isKnown(word, "rule"),
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
    return (at, rule, app.flatMap { self.app($0, rule) }, owner)
  }

  private func app(_ word: LocatedWord, _ rule: Rule) -> App? {
    let known = rule.apps.map(\.rawValue)
    guard
      scenarios.isKnown(
        word, among: known, "the rule \(rule.name) is not for the app",
        expected: alternatives(known))
    else { return nil }
    return App(rawValue: word.text)
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
