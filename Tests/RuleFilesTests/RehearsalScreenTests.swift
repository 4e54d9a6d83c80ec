import Base
import RideCore
import Testing
import Timeline

@testable import RuleFiles

/// What people notice of a day, and what their phones may never show.
@Suite struct RehearsalScreenTests {
  private static let arrived = """
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Here, sound: default, interruption-level: time-sensitive }
        expires: 10m
    """
  private static let waits = """
      - { name: waits, app: customer, at: driver_arrived + 1m, alert: { title: Waits, sound: a }, expires: 5m }
    """
  private static let beat = """
      - { name: beat, app: customer, at: driver_arrived + 1m, background: {}, expires: 5m }
    """
  private static let card = """
      - name: card
        app: customer
        live-activity:
          attributes-type: T
          content-state: { status: "{{ride.state}}" }
          start: driver_arrived
          end: [done]
          stale-after: 30m
        expires: 5m
    """

  private static func configuration(_ rules: String...) throws -> EngineConfiguration {
    let text = """
      states: { active: [requested, driver_arrived], final: [done] }
      events: [tip]
      rules:
      \(rules.joined(separator: "\n"))
      """
    let loaded = try RuleDirectory.parse(files: [(name: "rules.yaml", bytes: Array(text.utf8))])
      .get()
    return EngineConfiguration(rules: loaded.ruleSet, bundleIDs: [.customer: "c", .driver: "d"])
  }

  /// A driver arrives ten minutes after midnight in Los Angeles.
  private static func ride(_ id: String = "r1") -> [String] {
    [
      #"{"at":"2026-11-21T08:01:00Z","ride":{"id":"\#(id)","state":"requested","customer_id":"u1","time_zone":"America/Los_Angeles"}}"#,
      #"{"at":"2026-11-21T08:10:00Z","ride":{"id":"\#(id)","state":"driver_arrived"}}"#,
      #"{"at":"2026-11-21T09:45:00Z","ride":{"id":"\#(id)","state":"done"}}"#,
    ]
  }

  private static func phone(_ token: String) -> String {
    #"{"at":"2026-11-21T08:00:00Z","phone":{"app":"customer","owner_id":"u1","token":"\#(token)"}}"#
  }

  private static func replay(
    _ lines: [String], _ configuration: EngineConfiguration, _ options: Rehearsal.Options = .init(),
    until end: String = "12:00"
  ) throws -> Rehearsal.Result {
    let header = #"{"day":1,"from":"2026-11-21T08:00:00Z","to":"2026-11-21T\#(end):00Z"}"#
    var sum: Rehearsal.Result?
    for index in 0..<options.part.count {
      var options = options
      options.part.index = index
      var reader = DayReader()
      _ = try reader.read(Array(header.utf8))
      var rehearsal = Rehearsal(try #require(reader.header), by: configuration, options)
      for text in lines {
        if let line = try reader.read(Array(text.utf8), of: options.part) {
          try rehearsal.add(line, number: reader.lines)
        }
      }
      let result = rehearsal.finish()
      if sum == nil { sum = result } else { sum?.add(result) }
    }
    return try #require(sum)
  }

  private static func limit(_ word: String) throws -> ScreenLimit.Kind {
    let sides = word.split(separator: "=").map(String.init)
    let limit = try #require(ScreenLimit.Word(rawValue: sides[0]))
    return try #require(try NeverWords.limit(limit, sides[1], of: "--fail-on").get().first)
  }

  @Test func `What people notice is counted by app, and by the hour of the ride's clock`() throws {
    let result = try Self.replay(Self.ride(), Self.configuration(Self.arrived, Self.beat))
    let figures = try #require(result.figures.attention[.customer])
    #expect(figures.people == 1 && figures.total.rangByHour == [0: 1])
    #expect(figures.total.lit == 0 && figures.total.silent == 0)
    #expect(figures.rings.number(notExceededBy: 1) == 1)
  }

  @Test func `Changes of a card are silent`() throws {
    let card = try Self.replay(Self.ride(), Self.configuration(Self.card))
    let figures = try #require(card.figures.attention[.customer])
    #expect(figures.total.silent >= 2)
    let all = figures.total.rang + figures.total.lit + figures.total.silent
    #expect(all == card.figures.pushes)
  }

  @Test func `A person with two phones counts once`() throws {
    let lines = [Self.phone("00aa"), Self.phone("00bb")] + Self.ride()
    let result = try Self.replay(lines, Self.configuration(Self.arrived))
    #expect(result.figures.pushes == 2)
    let figures = try #require(result.figures.attention[.customer])
    #expect(figures.people == 1 && figures.total.rang == 1)
  }

  /// (limit, a part of what is reported)
  private static let broken = [
    ("rings-per-ride=0", "rang too often: 1, at most 0"),
    ("rings-between=00:00-01:00", "rang at 2026-11-21 00:10:00 -08:00, by arrived"),
    ("time-sensitive-per-ride=0", "received too many time-sensitive alerts: 1, at most 0"),
    ("stale-card-for=10m", "showed a stale card for "),
    (
      "lost-behind=background",
      "would lose arrived at 2026-11-21 00:10:00 -08:00 if it were off: beat at "
    ),
  ]

  @Test(arguments: broken.indices)
  func `A broken limit names ride and phone, with the screen`(index: Int) throws {
    let (word, text) = Self.broken[index]
    let limit = try Self.limit(word)
    #expect(limit.text == word)
    var options = Rehearsal.Options()
    options.limits = [limit]
    // No refresh of the card is accepted before it is stale.
    let start = try #require(CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    options.faults = try FaultsFile.parse(
      Array("when:\n  - { at: 30m, apns: { status: 503, for: 40m } }\n".utf8), named: "f",
      from: start
    ).get()
    let rules = try Self.configuration(Self.arrived, Self.beat, Self.card)
    let group = try #require(try Self.replay(Self.ride(), rules, options).limits.groups[limit])
    #expect(group.count == 1 && group.new == 1 && group.before == 0)
    let example = try #require(group.examples.first)
    #expect(example.ride == "r1" && example.person == "customer u1")
    #expect(example.text.contains(text), "\(example.text)")
    #expect(example.screen.contains { $0.hasPrefix("\"Here\", rang at ") }, "\(example.screen)")
  }

  private static let kept = [
    "rings-per-ride=1", "rings-between=01:00-00:00", "time-sensitive-per-ride=1",
    "stale-card-for=30m", "lost-behind=alert",
  ]

  @Test func `A limit that every phone keeps is not counted`() throws {
    var options = Rehearsal.Options()
    options.limits = try Self.kept.map(Self.limit)
    let rules = try Self.configuration(Self.arrived, Self.beat, Self.card)
    #expect(try Self.replay(Self.ride(), rules, options).limits == LimitFigures())
  }

  @Test func `Next to other rules, only what is new has examples`() throws {
    var options = Rehearsal.Options()
    options.against = try Self.configuration(Self.arrived)
    options.limits = [.ringsPerRide(0), .ringsPerRide(1)]
    let rules = try Self.configuration(Self.arrived, Self.waits)
    let groups = try Self.replay(Self.ride(), rules, options).limits.groups
    let known = try #require(groups[.ringsPerRide(0)])
    #expect(known.count == 1 && known.before == 1 && known.new == 0 && known.examples == [])
    let new = try #require(groups[.ringsPerRide(1)])
    #expect(new.count == 1 && new.before == 0 && new.new == 1)
  }

  @Test func `A ride that goes on when the day ends counts`() throws {
    var options = Rehearsal.Options()
    options.limits = [.ringsPerRide(0)]
    let lines = Array(Self.ride().prefix(2))
    let result = try Self.replay(lines, Self.configuration(Self.arrived), options)
    #expect(result.figures.attention[.customer]?.total.rang == 1)
    #expect(result.limits.groups[.ringsPerRide(0)]?.count == 1)
  }

  private static let tipped = """
      - { name: tipped, app: customer, on: tip, alert: { title: Thanks, sound: a }, expires: 5m }
    """
  private static let tip = #"{"at":"2026-11-21T10:30:00Z","event":"tip","ride":"r1"}"#

  @Test func `A ride that comes back after its end has the same people`() throws {
    let rules = try Self.configuration(Self.arrived, Self.tipped)
    let result = try Self.replay(Self.ride() + [Self.tip], rules)
    let figures = try #require(result.figures.attention[.customer])
    #expect(figures.people == 1 && figures.total.rang == 2)
    #expect(figures.rings.number(notExceededBy: 0) == 2)
  }

  @Test func `Its rings add up, and a limit that it broke before counts once`() throws {
    var options = Rehearsal.Options()
    options.limits = [.ringsPerRide(0), .ringsPerRide(1), .ringsPerRide(2)]
    let rules = try Self.configuration(Self.arrived, Self.tipped)
    let groups = try Self.replay(Self.ride() + [Self.tip], rules, options).limits.groups
    #expect(groups[.ringsPerRide(0)]?.count == 1)
    let group = try #require(groups[.ringsPerRide(1)])
    #expect(group.count == 1)
    #expect(group.examples.first?.text == "rang too often: 2, at most 1")
    #expect(groups[.ringsPerRide(2)] == nil)
  }

  @Test func `Events of a person are no ride that comes back`() throws {
    let called = Self.tipped.replacing("customer", with: "driver")
    let lines = ["09:00", "10:00"].map {
      #"{"at":"2026-11-21T\#($0):00Z","event":"tip","data":{"driver_id":"d1"}}"#
    }
    let result = try Self.replay(lines, Self.configuration(called))
    let figures = try #require(result.figures.attention[.driver])
    #expect(figures.people == 2 && figures.rings.number(notExceededBy: 1) == 1)
  }

  @Test func `A card that an app started long after the booking rings`() throws {
    let booked = """
        - { name: booked, app: customer, on: requested, alert: { title: Booked }, expires: 5m }
      """
    let card = """
        - name: card
          app: customer
          live-activity:
            attributes-type: T
            content-state: { status: "{{ride.state}}" }
            alerts: { driver_arrived: { title: Here, sound: default } }
            end: [done]
            stale-after: 30m
          expires: 5m
      """
    // More than eight hours after the first push.
    let lines = [
      Self.ride()[0],
      #"{"at":"2026-11-21T18:00:00Z","card":{"ride":"r1","app":"customer","owner_id":"u1","token":"0a"}}"#,
      #"{"at":"2026-11-21T18:10:00Z","ride":{"id":"r1","state":"driver_arrived"}}"#,
    ]
    var options = Rehearsal.Options()
    options.limits = [.ringsPerRide(0)]
    let rules = try Self.configuration(booked, card)
    let result = try Self.replay(lines, rules, options, until: "20:00")
    #expect(result.figures.attention[.customer]?.total.rang == 1)
    #expect(result.limits.groups[.ringsPerRide(0)]?.count == 1)
  }

  @Test func `Parts of a day add up`() throws {
    let rides = (0..<20).map { Self.ride("r\($0)") }
    let lines = (0..<3).flatMap { step in rides.map { $0[step] } }
    var options = Rehearsal.Options()
    options.against = try Self.configuration(Self.arrived)
    options.limits = [.ringsPerRide(1), .ringsPerRide(0)]
    let rules = try Self.configuration(Self.arrived, Self.waits, Self.card)
    let whole = try Self.replay(lines, rules, options)
    options.part.count = 3
    let parts = try Self.replay(lines, rules, options)
    #expect(parts.figures.attention == whole.figures.attention)
    #expect(parts.before?.attention == whole.before?.attention)
    #expect(parts.limits == whole.limits)
    #expect(whole.limits.groups[.ringsPerRide(1)]?.new == 20)
    #expect(whole.figures.attention[.customer]?.people == 20)
  }
}
