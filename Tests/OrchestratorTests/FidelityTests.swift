import Base
import RideCore
import Synchronization
import Testing
import TestSupport
import Timeline

@testable import Orchestrator

/// Verifies that the engine sends exactly what the preview shows.
@Suite struct FidelityTests {
  /// A push in a form that both sides produce.
  private struct Sent: Hashable {
    var at: Timestamp
    var rule: String
    var ride: RideID
    var phone: Int64?
    var address: PushAddress
    var headers: PushHeaders
    var payload: [UInt8]
  }

  private static let topics: Set = [
    "com.example.customer", "com.example.driver", "com.example.customer.push-type.liveactivity",
  ]

  private static func configuration() throws -> EngineConfiguration {
    var alert = Alert()
    alert.title = LocalizedText([
      ("en", try TextTemplate("{{event.name}} of {{ride.id}} at {{ride.pickup_at | time}}")),
      ("de", try TextTemplate("{{event.at}}: {{ride.state}}")),
    ])
    let berlin = try #require(ZoneTimes(identifier: "Europe/Berlin"))
    let half: Set = ["requested", "driver_arrived"]
    func rule(
      _ name: String, _ app: App, _ when: Rule.When, _ what: Rule.What? = nil,
      expires: Duration = .seconds(600), limits: RuleLimits = RuleLimits()
    ) throws -> Rule {
      var rule = Rule(
        name: name, app: app, when: when, what: what ?? .alert(alert),
        data: ["ride_id": .value(try TextTemplate("{{ride.id}}"))], expires: .after(expires),
        collapse: ["told", "night"].contains(name)
          ? nil : try TextTemplate("\(name)-{{ride.id}}"),
        source: "test.yaml:1")
      rule.limits = limits
      return rule
    }
    var told = try rule("told", .customer, .on(["driver_arrived", "ride_updated"]))
    told.otherApps = [.driver]
    var (night, capped, other) = (RuleLimits(), RuleLimits(), RuleLimits())
    night.quiet = QuietHours(
      from: try #require(.init(text: "23:30")), to: try #require(.init(text: "02:30")), zone: .ride,
      then: .hold)
    capped.topic = "capped"
    capped.cap = PushCap(count: 1, per: .seconds(7200))
    other.topic = "some"
    let rules = try [
      told,
      try rule("beat", .driver, .at(Timing(.every(.seconds(2700)), while: half)), .background),
      try rule(
        "before", .customer,
        .at(Timing(.times([RuleTime(.ride(.pickupAt), by: .seconds(-900))]), while: half))),
      try rule(
        "after", .driver,
        .at(
          Timing(
            .times([RuleTime(.ride(.attribute(["lands"])), by: .seconds(600))]), while: half))),
      try rule(
        "named", .driver,
        .at(
          Timing(
            .cron(try CronSchedule("15,45 2 * * *"), zone: .named(berlin), missed: .skip),
            while: half))),
      try rule(
        "own", .customer,
        .at(
          Timing(.cron(try CronSchedule("*/40 * * * *"), zone: .ride, missed: .latest), while: half)
        )),
      try rule(
        "night", .driver,
        .at(
          Timing(.cron(try CronSchedule("5 * * * *"), zone: .ride, missed: .latest), while: half)),
        expires: .seconds(7200), limits: night),
      try rule(
        "capped", .customer,
        .at(Timing(.times([RuleTime(.ride(.pickupAt), by: .seconds(-1234))]), while: half)),
        limits: capped),
      try rule(
        "some", .customer,
        .at(
          Timing(.cron(try CronSchedule("7 * * * *"), zone: .ride, missed: .latest), while: half)),
        limits: other),
    ].map { rule in
      var rule = rule
      if rule.name == "some" { rule.condition = try Condition("share('some') < 0.6") }
      return rule
    }
    let waiting = try rule(
      "check-in", .customer,
      .at(Timing(.times([RuleTime(.event("driver_arrived"), by: .seconds(700))]), while: half)))
    var offer = try rule("offer", .driver, .on(["requested"], while: half))
    offer.escalation = Escalation(unlessSeenWithin: .seconds(60), emit: "unseen")
    let later = [
      waiting, offer, try rule("unseen", .driver, .on(["unseen"])),
      try rule("relay", .customer, .on(["driver_arrived", "scheduled"]), .emit("pong")),
      try rule("pong", .customer, .on(["pong"])),
      try rule(
        "still", .driver,
        .at(Timing(.times([RuleTime(.event("driver_arrived"), by: .seconds(900))]), while: half))),
      try rule(
        "lost", .driver,
        .at(Timing(.times([RuleTime(.contact, by: .seconds(1500))]), while: half))),
    ]
    var card = LiveActivity(attributesType: "T")
    card.contentState = ["status": .value(try TextTemplate("{{ride.state}} {{ride.pickup_at}}"))]
    card.start = ["driver_arrived"]
    card.staleAfter = .seconds(2400)
    card.lostAfter = .seconds(4 * 3600)
    let cards = Rule(
      name: "card", app: .customer, when: .life, what: .liveActivity(card),
      expires: .after(.seconds(600)), source: "test.yaml:1")
    return EngineConfiguration(
      rules: RuleSet(
        activeStates: ["scheduled", "requested", "driver_arrived"], finalStates: ["over"],
        events: ["pong", "unseen"], rules: rules + later + [cards]),
      bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
  }

  private static func fleet(_ seed: UInt64, at start: Timestamp) -> [RideView] {
    var numbers = SeededGenerator(seed: seed)
    func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &numbers) == 0 }
    return (0..<300).map { number in
      var ride = Ride(
        id: "ride-\(1000 + number)",
        state: ["scheduled", "requested", "driver_arrived", "over"].randomElement(using: &numbers))
      // Two rides have one customer, whose pushes about both count for `at-most`.
      ride.customerID = "c\(number / 2)"
      ride.driverID = chance(5) ? nil : "d\(number)"
      ride.timeZone =
        ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"].randomElement(using: &numbers)
        ?? "UTC"
      func soon() -> Timestamp {
        start + .seconds(Int64.random(in: -3600...30_000, using: &numbers))
      }
      ride.pickupAt = chance(4) ? nil : soon()
      ride.updatedAt = start - .seconds(Int64.random(in: 0...5000, using: &numbers))
      if !chance(3) { ride.attributes = #"{"lands": \#(soon().epochSeconds)}"# }
      var events: [RideEvent] = []
      if chance(3), let state = ride.state {
        let data = chance(3) ? #"{"driver_id": ["d\#(number)b", "d\#(number)"]}"# : "{}"
        events = [
          RideEvent(id: Int64(number + 1), name: state, at: start - .seconds(5), data: data)
        ]
      }
      let further: [(App, OwnerID)] = [(.customer, "c\(number)b"), (.driver, "d\(number)b")]
      for (app, owner) in further where chance(3) {
        ride.participants.append(Participant(app: app, ownerID: owner))
      }
      var phones: [Phone] = []
      let own = [(App.customer, ride.customerID), (.driver, ride.driverID)]
      for (app, owner) in own + further.map({ ($0, Optional($1)) }) {
        guard let owner else { continue }
        for copy in 0..<Int.random(in: 0...2, using: &numbers) {
          let id = Int64(number * 10 + phones.count)
          phones.append(
            Phone(
              id: id, app: app, ownerID: owner, token: "ab\(100_000 + id)",
              environment: chance(2) ? .sandbox : nil, locale: copy == 0 ? "de" : "en"))
        }
      }
      var view = RideView(rideID: ride.id, ride: ride, events: events, phones: phones)
      if let driver = ride.driverID, number % 2 == 0 {
        view.contacts = [OwnerContact(app: .driver, owner: driver, at: start)]
      }
      if number % 10 < 2 {
        view.optOuts = [OptOut(app: .customer, owner: "c\(number / 2)", topic: "some")]
      }
      if chance(3) {
        view.cards = [
          Card(
            .activity(Int64(number)), app: .customer, ownerID: "c\(number / 2)",
            token: "ca\(100_000 + number)",
            registeredAt: start)
        ]
      } else if chance(2) {
        view.startTokens = ["c\(number / 2)", "c\(number)b"].enumerated().map { index, owner in
          StartToken(
            id: Int64(number + index * 1000), app: .customer, ownerID: OwnerID(owner),
            attributesType: "T", token: "5a\(100_000 + number + index * 1000)",
            registeredAt: start)
        }
      }
      return view
    }
  }

  /// Returns the pushes that the preview shows.
  private static func previewed(
    _ views: [RideView], _ configuration: EngineConfiguration, _ start: Timestamp, _ end: Timestamp
  ) -> [Sent] {
    let world = World(views, for: configuration)
    var replay = Replay(world, by: configuration, from: start)
    var sent: [Sent] = []
    while let pass = replay.next(before: end) {
      sent += pass.decision.pushes.map { push in
        Sent(
          at: pass.now.wholeMillisecond, rule: push.entry.rule, ride: pass.ride,
          phone: push.entry.phone,
          address: push.address, headers: push.headers, payload: push.payload)
      }
    }
    return sent
  }

  @Test(arguments: [TestSeed.value(1)])
  func `the engine sends what the preview shows, to the byte`(seed: UInt64) async throws {
    // Berlin's clocks go back at 01:00 UTC.
    let start = try #require(CivilTime.instant(iso: "2026-10-24T21:00:00Z"))
    let end = start + .seconds(9 * 3600)
    let configuration = try Self.configuration()
    let views = Self.fleet(seed, at: start)
    let store = CheckingStore()
    store.add(views, at: start)
    let took = Mutex<[(Timestamp, PushRequest)]>([])
    let transport = StrictTransport(topics: Self.topics) { request in
      let now = store.state.withLock { $0.now }
      took.withLock { $0.append((now, request)) }
      return .accepted
    }
    let engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: configuration, log: Log { _, _, _ in }))
    async let running: Void = engine.run()
    repeat {
      engine.wake()
      await store.wait { state in
        state.holders.isEmpty && state.events.isEmpty
          && state.due.values.allSatisfy { $0 > state.now }
      }
    } while store.advance(before: end)
    engine.stop()
    await running

    let entries = Dictionary(
      store.state.withLock { $0.entries }.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let rides = Dictionary(
      views.flatMap { view in
        (view.phones.map(\.token) + view.cards.map(\.token) + view.startTokens.map(\.token))
          .map { ($0, view.rideID) }
      }, uniquingKeysWith: { $1 })
    let sent = try took.withLock { $0 }.map { now, request in
      let entry = try #require(entries[request.headers.id])
      return Sent(
        at: now.wholeMillisecond, rule: entry.rule, ride: rides[request.address.text] ?? "",
        phone: entry.phone,
        address: request.address, headers: request.headers, payload: request.payload)
    }
    let shown = Self.previewed(views, configuration, start, end)
    print("fidelity: \(shown.count) pushes, seed \(seed)")
    #expect(transport.faults == [])
    #expect(Set(shown.map(\.rule)).count == 16, "seed \(seed)")
    #expect(shown.count > 2_000 && Set(shown).count == shown.count, "seed \(seed)")
    // Quiet hours, the condition on shares, what people have turned off and the caps have all kept pushes back.
    let codes = Set(
      store.state.withLock { $0.entries }.compactMap { entry in
        entry.reason?.code.word
      })
    for code in ["quiet_hours", "condition_false", "opted_out", "over_cap"] {
      #expect(codes.contains(code), "seed \(seed)")
    }
    // Rides that are due together may be sent in another order.
    let missing = Set(shown).subtracting(sent)
    let unforeseen = Set(sent).subtracting(shown)
    #expect(sent.count == shown.count, "seed \(seed)")
    #expect(missing.isEmpty, "seed \(seed): \(missing.first.map { "\($0)" } ?? "")")
    #expect(unforeseen.isEmpty, "seed \(seed): \(unforeseen.first.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [TestSeed.value(1)])
  func `--once each minute sends what serve sends, each slot once`(seed: UInt64)
    async throws
  {
    let start = try #require(CivilTime.instant(iso: "2026-10-24T22:30:00Z"))
    let configuration = try Self.configuration()
    let views = Self.fleet(seed, at: start)
    let store = CheckingStore()
    store.add(views, at: start)
    var sent: [PushID] = []
    let minutes: Int64 = 200
    for minute in 0..<minutes {
      // A system cron starts each run on the minute or a moment later.
      let now = start + .seconds(minute * 60) + .milliseconds((minute * 7919) % 900)
      store.state.withLock { $0.now = now }
      let transport = StrictTransport(topics: Self.topics)
      let engine = Engine(
        EngineDependencies(
          store: store, transport: transport, configuration: configuration, log: Log { _, _, _ in })
      )
      try await engine.runOnce()
      sent += transport.taken.map(\.headers.id)
    }
    let end = start + .seconds((minutes - 1) * 60)
    let shown = Self.previewed(views, configuration, start, end).map(\.headers.id)
    #expect(Set(sent).count == sent.count, "seed \(seed)")
    #expect(shown.count > 1_000)
    #expect(Set(shown).subtracting(sent).isEmpty, "seed \(seed)")
    // The last run may also send what falls due within its own minute.
    #expect(Set(sent).subtracting(shown).count < 100, "seed \(seed)")
  }
}

extension Timestamp {
  /// A replay's clock advances by a microsecond where the engine handles a ride again at once.
  fileprivate var wholeMillisecond: Timestamp {
    Timestamp(microseconds: microseconds / 1000 * 1000)
  }
}
