import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// R89: events, clock rules and cards of several people, and rules for several apps.
@Suite struct PeopleTests {
  private static let fleet = App(rawValue: "fleet")
  private static let bundleIDs: [App: String] = [
    .customer: "com.example.customer", .driver: "com.example.driver", fleet: "com.example.fleet",
  ]

  private static func ride(_ participants: [(App, OwnerID)] = []) -> Ride {
    var ride = Sample.ride()
    ride.participants = participants.map { Participant(app: $0, ownerID: $1) }
    return ride
  }

  private static func phone(_ id: Int64, _ app: App, _ owner: OwnerID) -> Phone {
    Sample.phone(id, app: app, owner: owner, token: hex(id))
  }

  private static func hex(_ id: Int64) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
  }

  private func book(_ rules: [Rule]) -> EngineConfiguration {
    Sample.book(rules, bundleIDs: Self.bundleIDs)
  }

  // MARK: Who

  private struct Case: Sendable {
    var name: String
    var app: App = .driver
    var data = "{}"
    var driver: OwnerID? = "d"
    var participants: [(App, OwnerID)] = []
    var people: [OwnerID]
  }

  private static let cases = [
    Case(name: "the ride's own", people: ["d"]),
    Case(name: "nobody", driver: nil, people: []),
    Case(name: "an attribute", app: App(rawValue: "courier"), people: ["k"]),
    Case(
      name: "the own one first", participants: [(.driver, "a"), (.driver, "e")],
      people: ["d", "a", "e"]),
    Case(
      name: "participants alone", driver: nil, participants: [(.driver, "a"), (.driver, "e")],
      people: ["a", "e"]),
    Case(
      name: "the own one only once", participants: [(.driver, "d"), (.driver, "e")],
      people: ["d", "e"]),
    Case(
      name: "not those of another app", participants: [(.customer, "a"), (fleet, "f")],
      people: ["d"]),
    Case(
      name: "an app without a role", app: fleet, participants: [(fleet, "f1"), (fleet, "f2")],
      people: ["f1", "f2"]),
    Case(
      name: "one named", data: #"{"driver_id": "x"}"#, participants: [(.driver, "a")],
      people: ["x"]),
    Case(name: "a number", data: #"{"driver_id": 7}"#, people: ["7"]),
    Case(
      name: "several named", data: #"{"driver_id": ["y", "x"]}"#,
      participants: [(.driver, "a")], people: ["y", "x"]),
    Case(
      name: "each once, and only IDs", data: #"{"driver_id": ["y", null, "y", {}, "", 7, true]}"#,
      people: ["y", "7"]),
    Case(
      name: "an empty list names nobody", data: #"{"driver_id": []}"#,
      participants: [(.driver, "a")], people: []),
    Case(name: "null is not a name", data: #"{"driver_id": null}"#, people: ["d"]),
    Case(name: "an empty text is not a name", data: #"{"driver_id": ""}"#, people: ["d"]),
    Case(name: "the name of another app", data: #"{"customer_id": ["x"]}"#, people: ["d"]),
  ]

  @Test(arguments: cases.indices) func `R89: an event concerns`(index: Int) {
    let row = Self.cases[index]
    var ride = Self.ride(row.participants)
    ride.driverID = row.driver
    let event = Sample.event(data: row.data)
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8), event: event)
    let people = RecipientResolver([event]).recipients(of: row.app, in: context)
    let owners = [people.first?.owner].compactMap(\.self) + people.others.map(\.owner)
    #expect(owners == row.people, "\(row.name)")
    let isParticipant =
      [people.first].compactMap { $0?.isParticipant } + people.others.map(\.isParticipant)
    #expect(
      zip(owners, isParticipant).allSatisfy { owner, flag in
        flag == (row.data == "{}" && owner != "d" && owner != "k")
      }, "\(row.name)")
    var view = Sample.view(ride: ride)
    view.ride?.participants = ride.participants
    #expect(view.owners(of: [row.app], on: event).map(\.owner) == row.people, "\(row.name)")
    view.events = [event]
    let read = view.people(of: [row.app])
    #expect(Set(read).count == read.count, "\(row.name)")
    #expect(
      Set(read).isSuperset(of: row.people.map { PhoneOwner(row.app, $0) }), "\(row.name)")
  }

  @Test func `a list names at most as many people as one event may concern`() {
    let ids = (0..<1005).map { #""d\#($0)""# }.joined(separator: ",")
    #expect(NamedPeople(JSONValue(json: "[\(ids)]".utf8)).all.count == Participant.limit)
  }

  // MARK: Events

  @Test func `R89: two riders receive what one would, each with a row of their own`() {
    let ride = Self.ride([(.customer, "c2"), (.customer, "c3")])
    let phones = [Self.phone(1, .customer, "c"), Self.phone(2, .customer, "c2")]
    let both = decide(
      Sample.view(ride: ride, phones: phones), by: book([Sample.rule()]), now: Sample.now)
    let alone = decide(Sample.view(phones: phones), by: book([Sample.rule()]), now: Sample.now)
    #expect(both.pushes.map(\.entry.owner) == ["c", "c2"])
    #expect(both.pushes.map(\.payload) == [alone.pushes[0].payload, alone.pushes[0].payload])
    #expect(both.pushes[0].entry == alone.pushes[0].entry)
    #expect(both.pushes.map(\.entry.isOfParticipant) == [nil, true])
    #expect(both.reasons == ["suppressed: no phone of the customer"])
    #expect(both.ended.map(\.owner) == ["c3"])
  }

  @Test func `people without a phone have rows of their own, the first with the ID of always`() {
    let alone = decide(Sample.view(phones: []), by: book([Sample.rule()]), now: Sample.now)
    let ride = Self.ride([(.customer, "c2"), (.customer, "c3")])
    let closed = decide(
      Sample.view(ride: ride, phones: []), by: book([Sample.rule()]), now: Sample.now
    )
    .ended
    #expect(closed.count == 3 && Set(closed.map(\.id)).count == 3)
    #expect(closed.first?.id == alone.ended.first?.id)
  }

  @Test func `R89: an offer goes to ten drivers, and is revoked for nine`() {
    let drivers = (1...10).map { "d\($0)" }
    let phones = (1...10).map { Self.phone(Int64($0), .driver, OwnerID("d\($0)")) }
    func data(_ people: [String]) -> String {
      #"{"driver_id": [\#(people.map { "\"\($0)\"" }.joined(separator: ", "))]}"#
    }
    let events = [
      Sample.event(1, "eta_changed", data: data(drivers)),
      Sample.event(2, "driver_arrived", data: data(Array(drivers.dropFirst()))),
    ]
    let rules = [
      Sample.rule("offer", app: .driver, on: ["eta_changed"], collapse: "offer"),
      Sample.rule("revoked", app: .driver, on: ["driver_arrived"], collapse: "offer"),
    ]
    let decision = decide(
      Sample.view(events: events, phones: phones), by: book(rules), now: Sample.now)
    // What one look finds is sent once: the revocation replaces the offer.
    #expect(decision.pushes.filter { $0.entry.rule == "offer" }.map(\.entry.owner) == ["d1"])
    #expect(
      Set(decision.pushes.filter { $0.entry.rule == "revoked" }.map(\.entry.owner))
        == Set(drivers.dropFirst().map { OwnerID($0) }))
    #expect(decision.ended.map(\.status) == Array(repeating: .superseded, count: 9))
  }

  @Test func `many people with many phones are addressed in parts, each phone once`() {
    let people = (0..<1000).map { "d\($0)" }
    let phones = (0..<2500).map { Self.phone(Int64($0 + 1), .driver, OwnerID("d\($0 % 900)")) }
    let list = people.map { "\"\($0)\"" }.joined(separator: ",")
    var view = Sample.view(
      events: [Sample.event(data: #"{"driver_id": [\#(list)]}"#)], phones: phones.shuffled())
    var sent: [Int64] = []
    var without: [OwnerID?] = []
    while !view.events.isEmpty {
      let decision = decide(view, by: book([Sample.rule(app: .driver)]), now: Sample.now)
      sent += decision.pushes.compactMap(\.entry.phone)
      without += decision.ended.map(\.owner)
      #expect(decision.pushes.count <= OpenPart.size)
      view.apply(
        decision.settled(decision.pushes.map { _ in .accepted }, now: Sample.now, jitter: { 0 }))
    }
    #expect(sent.count == 2500 && Set(sent).count == 2500)
    #expect(without.count == 100)
  }

  @Test(arguments: [true, false])
  func `a push that waits for a participant goes only while they take part`(stays: Bool) throws {
    let phones = [Self.phone(2, .customer, "c2")]
    var ride = Self.ride([(.customer, "c2")])
    ride.customerID = nil
    let rule = Sample.rule(body: "Hello")
    let first = decide(Sample.view(ride: ride, phones: phones), by: book([rule]), now: Sample.now)
    let memo = first.settled([.unsent(.refusedStream)], now: Sample.now, jitter: { 1 }).memo
    let due = try #require(memo.waiting.first?.due)
    // In another app the same ID is another person.
    if !stays { ride.participants = [Participant(app: .driver, ownerID: "c2")] }
    let last = decide(
      Sample.view(ride: ride, events: [], phones: phones, memo: memo), by: book([rule]), now: due)
    #expect(last.pushes.count == (stays ? 1 : 0))
    #expect(
      last.reasons == (stays ? [] : ["suppressed: the person is no customer of the ride any more"]))
  }

  // MARK: Several apps

  @Test func `R89: a rule with a list of apps fires for each`() {
    var rule = Sample.rule()
    let single = decide(Sample.view(), by: book([rule]), now: Sample.now)
    rule.otherApps = [Self.fleet, .driver]
    // Tokens of two apps may be equal in theory.
    var phones = [Sample.phone(), Sample.phone(2, app: .driver, owner: "d")]
    phones.append(Sample.phone(3, app: Self.fleet, owner: "f"))
    let decision = decide(
      Sample.view(ride: Self.ride([(Self.fleet, "f")]), phones: phones), by: book([rule]),
      now: Sample.now)
    #expect(decision.pushes.map(\.entry.app) == [.customer, Self.fleet, .driver])
    #expect(
      decision.pushes.map(\.headers.topic)
        == ["com.example.customer", "com.example.fleet", "com.example.driver"])
    #expect(Set(decision.pushes.map(\.entry.id)).count == 3)
    #expect(decision.pushes[0].entry.id == single.pushes[0].entry.id)
    #expect(book([rule]).rules.apps == [.customer, .driver, Self.fleet])
    let lonely = decide(Sample.view(), by: book([rule]), now: Sample.now)
    #expect(lonely.reasons == ["suppressed: the ride has no fleet"])
  }

  @Test func `a retry goes to the app of its row`() throws {
    var rule = Sample.rule()
    rule.otherApps = [.driver]
    let first = decide(Sample.view(), by: book([rule]), now: Sample.now)
    let outcomes = first.pushes.map { _ in PushOutcome.unsent(.refusedStream) }
    let memo = first.settled(outcomes, now: Sample.now, jitter: { 0.5 }).memo
    let due = try #require(memo.waiting.map(\.due).max())
    let again = decide(Sample.view(events: [], memo: memo), by: book([rule]), now: due)
    #expect(again.pushes.map(\.headers.topic) == ["com.example.customer", "com.example.driver"])
    #expect(Set(again.pushes.map(\.entry.id)) == Set(first.pushes.map(\.entry.id)))
  }

  @Test func `R89: a slot fires once for all apps and people`() {
    var rule = Sample.rule(body: "at {{event.at}}")
    rule.otherApps = [.driver]
    rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    var ride = Self.ride([(.driver, "d2")])
    ride.updatedAt = Sample.now
    let phones = [
      Sample.phone(), Self.phone(2, .driver, "d"), Self.phone(3, .driver, "d2"),
    ]
    var view = Sample.view(ride: ride, phones: phones)
    var fired: [Int64: Int] = [:]
    for minute in 0...5 {
      let now = Sample.now + .seconds(Int64(minute) * 60)
      let decision = decide(view, by: book([rule]), now: now)
      for push in decision.pushes { fired[push.entry.phone ?? 0, default: 0] += 1 }
      view.apply(decision.settled(decision.pushes.map { _ in .accepted }, now: now, jitter: { 0 }))
    }
    #expect(fired[1] ?? 0 >= 4)
    #expect(fired[2] == fired[1] && fired[3] == fired[1])
  }
}
