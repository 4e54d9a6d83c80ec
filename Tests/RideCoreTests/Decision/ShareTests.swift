import Base
import Testing

@testable import RideCore
@testable import Timeline

/// `share('NAME')` in `if`: owners in fixed parts.
@Suite("share") struct ShareTests {
  /// Returns the people whom a rule with this condition sends a push.
  private func reached(_ condition: String, of people: [OwnerID]) throws -> [OwnerID] {
    let book = Sample.book([try ConditionTests.rule(condition)])
    return people.filter { owner in
      var ride = Sample.ride()
      ride.customerID = owner
      let view = Sample.view(ride: ride, phones: [Sample.phone(owner: owner)])
      let decision = decide(view, by: book, now: Sample.now)
      #expect(decision.reasons == (decision.pushes.isEmpty ? ["suppressed: if is false"] : []))
      return !decision.pushes.isEmpty
    }
  }

  private static let people = (0..<400).map { OwnerID("owner-\($0)") }

  /// The first 32 bits of SHA-256 of `NAME/OWNER` are a promise to data analysts.
  @Test(
    arguments: [
      ("news", "owner-0", 0xbe53_650c), ("", "", 0x8a5e_dab2), ("é/1", "c", 0x4112_7682),
    ] as [(String, String, UInt64)])
  func `a share is the documented hash`(name: String, owner: String, bits: UInt64) {
    #expect(OwnerShare.bits(of: owner, named: name) == bits)
    #expect(OwnerShare.of(OwnerID(owner), named: name) == Double(bits) / 4_294_967_296)
  }

  @Test func `a condition and its complement never overlap, and leave nobody out`() throws {
    let some = try reached("share('greeting') < 0.25", of: Self.people)
    let others = try reached("share('greeting') >= 0.25", of: Self.people)
    #expect(Set(some).isDisjoint(with: others))
    #expect(Set(some + others) == Set(Self.people))
    #expect((70...130).contains(some.count), "\(some.count)")
    // A larger share contains the smaller one, and another name divides independently.
    #expect(try Set(reached("share('greeting') < 0.5", of: Self.people)).isSuperset(of: some))
    let both = try reached("share('receipts') < 0.25", of: some)
    #expect((8...45).contains(both.count), "\(both.count)")
  }

  @Test func `a share is from 0 to below 1`() throws {
    #expect(try reached("share('a') >= 0.0 && share('a') < 1.0", of: Self.people) == Self.people)
  }

  @Test func `each person of an event has a share, with one row and no escalation`() throws {
    let people = Self.people.prefix(40)
    var rule = try ConditionTests.rule("share('offer') < 0.5", on: "ride_offer")
    rule.app = .driver
    rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "offer_unseen")
    let names = people.map { "\"\($0.text)\"" }.joined(separator: ",")
    let view = Sample.view(
      events: [Sample.event(1, "ride_offer", data: "{\"driver_id\": [\(names)]}")], phones: [])
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    let blocked = decision.ended.filter { $0.reason?.code == .engine(.conditionFalse) }
    let expected = people.filter { OwnerShare.of($0, named: "offer") >= 0.5 }
    #expect(Set(blocked.compactMap(\.owner)) == Set(expected) && blocked.count == expected.count)
    #expect(Set(blocked.map(\.id)).count == blocked.count)
    let settlement = decision.settled([], now: Sample.now) { 0 }
    let awaited = settlement.memo.waiting.compactMap(\.entry.owner)
    #expect(Set(awaited) == Set(people).subtracting(expected))
  }

  @Test func `a split pass decides each person once`() throws {
    let rule = try ConditionTests.rule("share('split') < 0.5", on: "ping")
    let people = Array(Self.people.prefix(30))
    let names = people.map { "\"\($0.text)\"" }.joined(separator: ",")
    var view = Sample.view(
      events: [Sample.event(1, "ping", data: "{\"customer_id\": [\(names)]}")])
    let zeros = String(repeating: "0", count: 56)
    view.phones = (0..<2400).map { number in
      Sample.phone(
        Int64(number + 1), owner: people[number % people.count],
        token: zeros + String(10_000_000 + number))
    }
    var (sent, rows): ([OwnerID], [OwnerID]) = ([], [])
    for _ in 0..<10 where !view.events.isEmpty {
      let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
      sent += decision.pushes.compactMap(\.entry.owner)
      rows += decision.ended.compactMap(\.owner)
      let settlement = decision.settled(
        decision.pushes.map { _ in .accepted }, now: Sample.now
      ) { 0 }
      view.apply(settlement)
      view.memo = try Memo(storedText: view.memo.storedText)
    }
    let expected = people.filter { OwnerShare.of($0, named: "split") < 0.5 }
    #expect(view.events.isEmpty && Set(sent) == Set(expected))
    #expect(sent.count == 80 * expected.count && rows.count == people.count - expected.count)
  }

  @Test func `the share of an event without a person is an error with the reason`() throws {
    var rule = Rule(
      name: "e", app: .driver, when: .on(["driver_arrived"]), what: .emit("eta_changed"),
      expires: .ofEmit, source: "sample.yaml:1")
    rule.condition = try Condition("share('a') < 2.0")
    var view = Sample.view()
    #expect(decide(view, by: Sample.book([rule]), now: Sample.now).settlement.emits.count == 1)
    view.ride?.driverID = nil
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(
      decision.reasons == [
        "suppressed: if: share('a'): there is no person that it depends on"
      ])
  }

  @Test func `work on long names is bounded`() throws {
    let rule = try ConditionTests.rule(
      "ride.attributes.names.all(n, share(n) >= 0.0)")
    let names = Array(repeating: "\"\(String(repeating: "x", count: 1000))\"", count: 100)
    let view = ConditionTests.view("{\"names\": [\(names.joined(separator: ","))]}")
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.reasons.first?.contains("more than 50000 steps") == true)
  }
}
