import Base

@testable import RideCore

/// Generates rules that rule files can express.
struct BookMaker {
  var chance: Chance

  private static let texts: [TextTemplate] = [
    "", "x", "Your driver is here", "{{ride.id}}", "{{ride.attributes.plate | default: 'see app'}}",
    "{{ride.attributes.plate}}", "{{ride.pickup_at | time}}", "{{ride.pickup_at}}",
    "{{event.at | date}}", "{{event.at}}", "{{ride.updated_at | epoch}}", "{{ride.attributes}}",
    "{{event.data}}", "{{event.data.at | time}}", "{{ride.attributes.at | date}}",
    "{{ride.attributes.at | epoch}}", "{{ride.attributes.at | time | upper}}",
    "{{ride.time_zone | lower}}", "{{ride.state | upper}}", "{{event.name}}",
    "{{ride.attributes.eta | default: 0}}", "{{ride.attributes.a.b.a}} and {{ride.customer_id}}",
    "r-{{ride.id}}", String(repeating: "long ", count: 700),
  ].compactMap { try? TextTemplate($0) }

  private static let crons: [CronSchedule] = [
    "* * * * *", "*/5 * * * *", "0 8 * * MON-FRI", "30 2 * * *", "0 0 29 2 *", "15 */3 1,15 * *",
    "59 23 31 12 *", "0 0 13 * FRI", "*/7 1-3 * * SUN", "0 */2 * 3,10 *",
  ].compactMap { try? CronSchedule($0) }

  private static let zones = [
    "UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca",
  ].compactMap { ZoneTimes(identifier: $0) }

  mutating func book() -> EngineConfiguration {
    var rules = (0..<chance.number(1...4)).map { rule("r\($0)") }
    for app in RideMaker.apps where chance.percent(50) {
      rules.append(card("card-\(app)", app))
    }
    let set = RuleSet(
      activeStates: Set(RideMaker.states), finalStates: Set(RideMaker.finalStates),
      events: Set(RideMaker.events), rules: rules)
    var bundleIDs: [App: String] = [
      .customer: "com.example.customer", .driver: "com.example.driver",
    ]
    if chance.percent(50) { bundleIDs[RideMaker.apps[2]] = "com.example.courier" }
    return EngineConfiguration(rules: set, bundleIDs: bundleIDs)
  }

  private mutating func text() -> TextTemplate {
    let texts = chance.percent(60) ? Self.texts[1..<5] : Self.texts[...]
    return chance.pick(of: Array(texts), else: TextTemplate(literal: "x"))
  }

  private mutating func localized() -> LocalizedText {
    let texts = [(locale: "en", text: text()), (locale: "de", text: text())]
    return chance.percent(30)
      ? LocalizedText(texts) ?? LocalizedText(text()) : LocalizedText(text())
  }

  private mutating func names() -> [String] {
    let names = RideMaker.states + RideMaker.finalStates + RideMaker.events
    return (0..<chance.number(1...4)).map { _ in
      chance.percent(40) ? "driver_arrived" : chance.pick(of: names, else: "")
    }
  }

  /// Returns a duration from one second to ten years, the range that a rule file allows.
  private mutating func duration(upTo seconds: Int64 = 3652 * 86_400) -> Duration {
    chance.percent(70)
      ? .seconds(min(seconds, chance.pick(1, 15, 60, 300, 1200, 3600, 86_400)))
      : .seconds(chance.number(1...seconds))
  }

  private mutating func rule(_ name: String) -> Rule {
    var alert = Alert()
    alert.title = localized()
    alert.body = chance.percent(70) ? localized() : nil
    alert.badge = chance.percent(20) ? text() : nil
    alert.threadID = chance.percent(20) ? text() : nil
    let when = when()
    let isSilent = chance.percent(25)
    let priority: PushPriority = chance.pick(.immediate, .powerAware)
    var rule = Rule(
      name: name, app: chance.pick(.customer, .customer, .driver, RideMaker.apps[2]), when: when,
      what: isSilent ? .background : .alert(alert, priority: priority),
      expires: chance.percent(80) ? .after(duration()) : .neverStore, source: "fuzz.yaml:1")
    if chance.percent(20), rule.app != .driver { rule.otherApps = [.driver] }
    for key in ["a", "b"] where chance.percent(40) { rule.data[key] = .value(text()) }
    rule.collapse = chance.percent(40) ? text() : nil
    rule.withCard = chance.pick(nil, nil, nil, .send, .skip)
    return rule
  }

  private mutating func when() -> Rule.When {
    switch chance.number(0...7) {
    case 0: return .at(Timing(.every(duration()), while: states(final: false)))
    case 1, 2:
      let time: RideTime = chance.pick(.pickupAt, .attribute(["at"]), .attribute(["a", "b"]))
      let offset = duration()
      let by = chance.percent(50) ? offset : .zero - offset
      return .at(Timing(.times([RuleTime(.ride(time), by: by)]), while: states(final: true)))
    case 3:
      let zone =
        Self.zones.isEmpty
        ? .ride : Timing.Zone.named(chance.pick(of: Self.zones, else: Self.zones[0]))
      let missed: Timing.Missed = chance.pick(
        .skip, .latest, .all(atMost: chance.pick(1, 3, 10)),
        .all(atMost: chance.percent(5) ? 1000 : 20))
      guard let cron = Self.crons.isEmpty ? nil : chance.pick(of: Self.crons, else: Self.crons[0])
      else { return .on(names()) }
      return .at(
        Timing(
          .cron(cron, zone: chance.percent(40) ? .ride : zone, missed: missed),
          while: states(final: false)))
    default:
      return .on(names(), while: chance.percent(30) ? states(final: true) : nil)
    }
  }

  /// Returns states for a rule; a rule that fires repeatedly may not name a final state.
  private mutating func states(final: Bool) -> Set<String> {
    let states = RideMaker.states + (final ? RideMaker.finalStates : [])
    return Set((0..<chance.number(1...4)).map { _ in chance.pick(of: states, else: "") })
  }

  /// Returns a field of a card, typed or not.
  private mutating func field() -> PayloadTemplate {
    let value = PayloadTemplate.value(text())
    if chance.percent(80) { return value }
    let type: FieldType = chance.pick(
      .string, .int, .double, .bool, .dateEpoch, .list(nil), .object(nil), .unknown,
      .words(["a", "b"]), .list(.string),
      .list(.object(["a": CardField(.string), "b": CardField(.int, isOptional: true)])))
    let field = CardField(type, isOptional: chance.percent(50))
    return chance.percent(20)
      ? .field(.array([.visible(localized()), value]), field) : .field(value, field)
  }

  private mutating func card(_ name: String, _ app: App) -> Rule {
    var life = LiveActivity(attributesType: "A")
    life.attributes = ["id": .value(text())]
    for key in ["s", "t"] where chance.percent(70) { life.contentState[key] = field() }
    life.start = chance.percent(60) ? names() : []
    life.end = chance.percent(30) ? names() : []
    for event in life.end where chance.percent(50) {
      life.dismissals[event] = chance.percent(30) ? .zero : duration(upTo: 4 * 3600)
    }
    for event in names() where chance.percent(30) {
      life.relevance[event] = chance.pick(0, 0.5, -1e308, 75)
    }
    if chance.percent(15) {
      let time: RideTime = chance.pick(.pickupAt, .attribute(["at"]))
      let offset = duration(upTo: 86_400)
      life.from = CardOpening(time, offset: chance.percent(80) ? .zero - offset : offset)
    }
    for event in life.end where chance.percent(20) {
      life.endContents[event] = ["s": .value(text())]
    }
    for state in RideMaker.states where chance.percent(15) {
      life.staleAfterByState[state] = duration(upTo: LiveActivity.ageLimit.components.seconds)
    }
    life.urgent = names()
    for event in names() + names() where chance.percent(80) {
      var alert = CardAlert()
      alert.title = localized()
      alert.sound = chance.percent(50) ? text() : nil
      life.alerts[event] = alert
    }
    let age = LiveActivity.ageLimit.components.seconds
    life.staleAfter = chance.percent(80) ? duration(upTo: age) : nil
    life.dismissAfter = chance.percent(50) ? duration(upTo: 4 * 3600) : nil
    life.minInterval = duration(upTo: 3600)
    life.lostAfter = duration(upTo: age)
    life.urgentPerHour = chance.pick(nil, 1, 3, 1000)
    life.relevanceScore = chance.pick(nil, 0.5, -1e308, 75)
    life.wantsPushToken = chance.percent(20)
    life.pushChannel = chance.percent(10) ? text() : nil
    if chance.percent(25) {
      life.broadcast = chance.pick(.latest, .nothing)
      life.start = []
      if chance.percent(50) { life.lostAfter = nil }
    }
    return Rule(
      name: name, app: app, when: .life, what: .liveActivity(life),
      data: chance.percent(30) ? ["a": .value(text())] : [:],
      expires: chance.percent(80) ? .after(duration()) : .neverStore, source: "fuzz.yaml:2")
  }
}
