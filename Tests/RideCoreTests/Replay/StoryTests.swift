import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// Stories, invented and given, as their people would experience them.
@Suite struct StoryTests {
  private let start = Sample.now

  private func text(_ texts: [(String, String)]) throws -> LocalizedText {
    try #require(LocalizedText(texts.map { ($0.0, Sample.text($0.1)) }))
  }

  private func arrived() throws -> Rule {
    var alert = Alert()
    alert.title = try text([("en", "Your driver is here"), ("ar", "سائقك هنا")])
    alert.body = LocalizedText(
      Sample.text("{{ride.attributes.driver_name}}, {{ride.attributes.plate}}"))
    alert.sound = Alert.Sound(Sample.text("default"))
    return Rule(
      name: "arrived", app: .customer, when: .on(["driver_arrived"]), what: .alert(alert),
      expires: .after(.seconds(300)), source: "sample.yaml:1")
  }

  private func card() throws -> Rule {
    var life = LiveActivity(attributesType: "RideAttributes")
    life.contentState = ["status": .value(Sample.text("{{ride.state}}"))]
    life.start = ["requested"]
    life.staleAfter = .seconds(300)
    var alert = CardAlert()
    alert.title = try text([("en", "Your driver is here"), ("ar", "سائقك هنا")])
    life.alerts = ["driver_arrived": alert]
    return Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(life),
      expires: .after(.seconds(300)), source: "sample.yaml:2")
  }

  private func story(_ states: String, _ rules: [Rule], seconds: Int64 = 1200) throws -> Story {
    let configuration = Sample.book(rules)
    let scenario = try InventedRide(for: configuration.rules, at: start).scenario(of: states)
    return Story(scenario, by: configuration, until: start + .seconds(seconds))
  }

  @Test func `A push is read in each language`() throws {
    let story = try story("requested,driver_arrived@10m", [arrived()])
    #expect(story.languages == ["en", "ar"])
    let row = try #require(story.moments.last?.rows.first)
    #expect(row.texts.map(\.languages) == [["en"], ["ar"]])
    #expect(row.texts.map(\.shown.title) == ["Your driver is here", "سائقك هنا"])
    #expect(row.texts.map(\.shown.body) == ["Ana, B-RP 1001", "Ana, B-RP 1001"])
    #expect(row.phones == 1 && row.isSent)
  }

  @Test func `A card takes the place of the alert, and the story says so`() throws {
    let story = try story("requested,driver_arrived@10m", [arrived(), card()])
    let rows = story.moments.flatMap(\.rows)
    let covered = try #require(rows.first { $0.entry.rule == "arrived" })
    #expect(covered.entry.reason == .coveredByCard && !covered.isSent)
    let update = try #require(rows.first { $0.entry.event.name == "driver_arrived" && $0.isSent })
    #expect(update.entry.cardEvent == .update)
    #expect(update.texts.map(\.shown.title) == ["Your driver is here", "سائقك هنا"])
    #expect(update.texts.first?.shown.fields.first?.value == "driver_arrived")
  }

  @Test
  func
    `An alert that is skipped on a phone with a card is left to the start of a card, or sent if that fails`()
    throws
  {
    var rule = try arrived()
    rule.when = .on(["requested"])
    rule.withCard = .skip
    let configuration = Sample.book([rule, try card()])
    var scenario = try InventedRide(for: configuration.rules, at: start).scenario(of: "requested")
    func alerts() -> [LedgerEntry.Status] {
      Story(scenario, by: configuration, until: start + .seconds(60)).moments.flatMap(\.rows)
        .filter { $0.entry.rule == "arrived" }.map(\.entry.status)
    }
    #expect(alerts() == [.suppressed])
    let refusal = Refusal(status: 410, reason: "Unregistered", timestamp: start)
    scenario.steps[0].changes.insert(
      .answers(.refused(refusal), until: start + .microseconds(1)), at: 0)
    #expect(alerts() == [.pending, .accepted])
  }

  @Test func `What a card shows in place of an alert is remembered`() throws {
    var rule = try arrived()
    rule.when = .on(["ride_updated"])
    rule.withCard = .skip
    rule.condition = try Condition(
      "last == null || math.abs(ride.attributes.eta - last.eta) > 180", remembering: [["eta"]])
    let configuration = Sample.book([rule, try card()])
    var scenario = try InventedRide(for: configuration.rules, at: start).scenario(of: "requested")
    for (seconds, eta) in [(100, 1000), (200, 1010), (300, 1200)] as [(Int64, Int64)] {
      scenario.steps.append(
        ScenarioStep(
          at: start + .seconds(seconds),
          [.ride(RideUpdate(id: "story", attributes: ["eta": .integer(eta)]))]))
    }
    let story = Story(scenario, by: configuration, until: start + .seconds(400))
    let covered = story.moments.flatMap(\.rows).filter { $0.entry.rule == "arrived" }
    #expect(covered.map(\.entry.reason) == [.skippedForCard, .skippedForCard])
    #expect(covered.map(\.entry.event.at) == [100, 300].map { start + .seconds($0) })
  }

  @Test func `Values are invented for formats and conditions, too`() throws {
    var rule = Sample.rule(on: ["driver_arrived"])
    rule.condition = try Condition(
      "ride.attributes.product == 'xl' && ride.attributes.seats > 4 && event.data.door in ['A', 'B']"
    )
    var alert = Alert()
    alert.title = LocalizedText(
      Sample.text(
        "{{ride.attributes.fare | currency: 'EUR'}} {{ride.attributes.bags | plural: 'other=# bags'}}"
      ))
    alert.body = LocalizedText(
      Sample.text(
        "{{ride.attributes.price | int}} {{ride.attributes.start | weekday}} "
          + "{{ride.attributes.model | default: '?' | select: '?=A car|other=By '}}"
          + "{{ride.attributes.why | default: 'other' | select: 'b=B|a=A|other=C'}}"))
    rule.what = .alert(alert)
    let configuration = Sample.book([rule])
    var scenario = try InventedRide(for: configuration.rules, at: start)
      .scenario(of: "requested,driver_arrived")
    let attributes = scenario.steps.flatMap(\.changes).reduce(into: [String: JSONValue]()) {
      if case .ride(let update) = $1 { $0.merge(update.attributes ?? [:]) { $1 } }
    }
    let expected: [String: JSONValue] = [
      "product": .string("xl"), "seats": .integer(5), "fare": .number(14.2), "bags": .integer(3),
      "price": .integer(3), "start": .integer((start + .seconds(300)).epochSeconds),
      // The word that stands for a missing value is none.
      "model": .string("model"), "why": .string("a"),
    ]
    #expect(attributes == expected)
    scenario.steps.append(
      ScenarioStep(
        at: start + .seconds(400), [.event(NamedEvent("driver_arrived", ride: "story"))]))
    let filled = InventedRide(for: configuration.rules, at: start).filled(scenario)
    #expect(
      filled.steps.last?.changes == [
        .event(NamedEvent("driver_arrived", ride: "story", data: ["door": .string("A")]))
      ])
  }

  @Test func `U11: what a rule wants absent is left out, and values have their declared types`()
    throws
  {
    func rule(_ name: String, if condition: String, _ body: String) throws -> Rule {
      var rule = Sample.rule(name, on: ["driver_arrived"])
      rule.condition = try Condition(condition)
      var alert = Alert()
      alert.body = LocalizedText(Sample.text(body))
      rule.what = .alert(alert)
      return rule
    }
    var card = try card()
    if case .liveActivity(var life) = card.what {
      for (name, type) in [
        ("fare", .double), ("seats", .int), ("due", .dateEpoch), ("kind", .string), ("vip", .bool),
      ] as [(String, FieldType)] {
        life.contentState[name] = .field(
          .value(Sample.text("{{ride.attributes.\(name)}}")), CardField(type))
      }
      life.alerts = [:]
      card.what = .liveActivity(life)
    }
    let rules = [
      card,
      try rule("plain", if: "!has(ride.attributes.pin) || ride.attributes.pin == ''", "Here"),
      try rule("pin", if: "has(ride.attributes.pin)", "PIN {{ride.attributes.pin}}"),
      // Another rule cannot do without this one.
      try rule("gate", if: "!has(ride.attributes.gate)", "Here"),
      try rule("gates", if: "ride.attributes.gate != 'B'", "{{ride.attributes.gate}}"),
    ]
    let story = try story("requested,driver_arrived", rules)
    let rows = story.moments.flatMap(\.rows)
    #expect(Set(rows.filter(\.isSent).map(\.entry.rule)) == ["card", "plain", "gates"])
    let shown = try #require(rows.first { $0.entry.rule == "card" }?.texts.first?.shown)
    #expect(
      shown.fields.map { "\($0.name)=\($0.value)" } == [
        "due=\((start + .seconds(300)).epochSeconds)", "fare=14.2", "kind=kind", "seats=3",
        "status=requested", "vip=true",
      ])
  }

  @Test func `Refreshes of a card are counted, not repeated`() throws {
    let story = try story("requested", [card()], seconds: 1200)
    let rows = story.moments.flatMap(\.rows)
    #expect(rows.map(\.entry.cardEvent) == [.start, .update])
    #expect(rows.last?.repeats == 5)
  }

  @Test func `A moment in which nothing is sent stays in the story`() throws {
    let story = try story("requested,eta_changed", [arrived()])
    #expect(story.moments.map(\.rows.count) == [0, 0])
    #expect(story.moments.map { $0.steps.map(\.title) } == [["requested"], ["eta_changed"]])
    #expect(story.moments.last?.at == start + .seconds(300))
  }

  /// A list of states, and the problem.
  private static let mistakes = [
    ("requested,driver_arived", "did you mean driver_arrived?"),
    ("requested,,ride_completed", "an empty entry"), ("", "an empty entry"),
    ("requested@soon", "\"soon\" is not a time after the start"),
    ("requested@10m,driver_arrived@5m", "before the entry in front of it, at 10m"),
  ]

  @Test(arguments: mistakes.indices) func `A wrong list gets one message`(index: Int) throws {
    let (states, message) = Self.mistakes[index]
    let invented = InventedRide(for: Sample.book().rules, at: start)
    let problem = #expect(throws: InventedRide.Problem.self) { try invented.scenario(of: states) }
    #expect(problem?.description.contains(message) == true, "\(problem?.description ?? "")")
  }

  @Test func `A silent push is not seen, and a text of the app is its key`() throws {
    func shown(_ payload: String) throws -> ReadablePush {
      var entry = LedgerEntry(
        id: PushID(of: "x"), event: Sample.event(), rule: "r", app: .customer, pushType: .alert,
        status: .accepted, attempts: 1)
      entry.cardEvent = payload.contains("content-state") ? .update : nil
      return ReadablePush(
        PlannedPush(
          entry: entry,
          PushRequest(
            network: .production,
            address: .device(try #require(DeviceToken(Sample.customerToken))),
            headers: PushHeaders(
              id: entry.id, topic: "t", pushType: .alert, priority: .immediate,
              expiration: .neverStore), payload: Array(payload.utf8), validUntil: start)))
    }
    #expect(try !shown(#"{"aps":{"content-available":1}}"#).isSeen)
    #expect(try shown(#"{"aps":{"badge":3}}"#).isSeen)
    let key = try shown(#"{"aps":{"alert":{"loc-key":"HERE","loc-args":["Ana",1]}}}"#)
    #expect(key.body == "HERE (Ana, 1)")
    let card = try shown(
      #"{"aps":{"content-state":{"a":1},"alert":{"title":{"loc-key":"HERE"},"sound":"x.caf"}}}"#)
    #expect(card.title == "HERE" && card.sound == "x.caf" && card.fields.map(\.value) == ["1"])
  }
}
