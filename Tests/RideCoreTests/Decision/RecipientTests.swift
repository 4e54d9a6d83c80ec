import Testing

@testable import Base
@testable import RideCore

/// The recipients of an event that is handled late.
@Suite struct RecipientTests {
  private static let names = ["requested", "driver_arrived", "ride_completed", "eta_changed"]
  private static let rules = names.map {
    Sample.rule($0, app: .driver, on: [$0], body: "{{ride.attributes.name}} {{ride.driver_id}}")
  }

  /// The ride, whose driver is now d2.
  private static let ride: Ride = {
    var ride = Sample.ride()
    ride.driverID = "d2"
    ride.attributes = #"{"name": "Bea"}"#
    return ride
  }()

  private static let phones = ["d1", "d2", "d3"].enumerated().map {
    Sample.phone(
      Int64($0 + 1), app: .driver, owner: OwnerID($1), token: String(repeating: $1, count: 32))
  }

  private static func image(_ driver: OwnerID?, _ name: String) -> RideImage {
    RideImage(customer: "c", driver: driver, attributes: #"{"name": "\#(name)"}"#)
  }

  private func event(
    _ id: Int64, _ name: String, driver: OwnerID?, former: RideImage? = nil, data: String = "{}"
  ) -> RideEvent {
    var event = Sample.event(id, name, data: data)
    event.people = EventPeople(customer: "c", driver: driver, former: former)
    return event
  }

  private func decision(_ events: [RideEvent], memo: Memo = Memo()) -> Decision {
    decide(
      Sample.view(ride: Self.ride, events: events, phones: Self.phones, memo: memo),
      by: Sample.book(Self.rules), now: Sample.now)
  }

  private func sent(_ decision: Decision) -> [String] {
    decision.pushes.map { push in
      let aps = JSONValue(json: push.payload)?.value(at: ["aps", "alert", "body"])
      return "\(push.entry.event.id) \(push.entry.owner?.text ?? "") \(aps?.text ?? "")"
    }
  }

  @Test func `a former driver receives the pushes meant for them, with the row of that time`() {
    let decision = decision([
      event(1, "requested", driver: "d1"), event(2, "driver_arrived", driver: "d1"),
      event(3, "ride_completed", driver: "d2", former: Self.image("d1", "Ana")),
      event(4, "eta_changed", driver: "d2"),
    ])
    #expect(
      sent(decision) == ["1 d1 Ana d1", "2 d1 Ana d1", "3 d2 Bea d2", "4 d2 Bea d2"])
  }

  @Test func `the event that removes a driver is the removed driver's`() {
    let decision = decision([
      event(1, "driver_arrived", driver: nil, former: Self.image("d1", "Ana")),
      event(2, "requested", driver: nil), event(3, "eta_changed", driver: "d2"),
    ])
    // The ride had no driver at the second event: it goes to the next driver of the ride.
    #expect(sent(decision) == ["1 d1 Ana d1", "2 d2 Bea d2", "3 d2 Bea d2"])
  }

  @Test func `consecutive drivers are distinguished`() {
    let decision = decision([
      event(1, "driver_arrived", driver: "d1"),
      event(2, "driver_arrived", driver: "d3", former: Self.image("d1", "Ana")),
      event(3, "driver_arrived", driver: "d2", former: Self.image("d3", "Cem")),
    ])
    #expect(sent(decision) == ["1 d1 Ana d1", "2 d3 Cem d3", "3 d2 Bea d2"])
  }

  @Test func `without the row of then nothing of the ride is named but the person`() {
    // The change was handled before this event was committed.
    let decision = decision([event(1, "driver_arrived", driver: "d1")])
    #expect(sent(decision).isEmpty)
    #expect(decision.reasons == ["suppressed: missing ride.attributes.name"])
    #expect(decision.ended.first?.owner == "d1")
  }

  @Test func `data names its own recipient, and the texts are the ride's`() {
    let decision = decision([
      event(1, "eta_changed", driver: "d1", data: #"{"driver_id": "d3"}"#),
      event(2, "requested", driver: "d2", former: Self.image("d1", "Ana")),
    ])
    #expect(sent(decision) == ["1 d3 Bea d2", "2 d2 Bea d2"])
  }

  @Test func `an app's owner in attributes is found in the row of then`() {
    let courier = App(rawValue: "courier")
    var ride = Sample.ride()
    ride.attributes = #"{"courier_id": "k2"}"#
    var change = Sample.event(2, "requested")
    change.people = EventPeople(
      customer: "c", driver: "d",
      former: RideImage(customer: "c", driver: "d", attributes: #"{"courier_id": "k1"}"#))
    let phones = ["k1", "k2"].enumerated().map {
      Sample.phone(Int64($0 + 1), app: courier, owner: OwnerID($1))
    }
    let decision = decide(
      Sample.view(
        ride: ride, events: [Sample.event(1), change, Sample.event(3)], phones: phones),
      by: Sample.book(
        [
          Sample.rule(
            app: courier, on: ["driver_arrived", "requested"],
            body: "{{ride.attributes.courier_id}}")
        ], bundleIDs: [courier: "com.example.courier"]), now: Sample.now)
    #expect(sent(decision) == ["1 k1 k1", "2 k2 k2", "3 k2 k2"])
  }

  @Test func `a push that waited for a former driver keeps the row of that time`() throws {
    var before = Self.ride
    before.driverID = "d1"
    before.attributes = #"{"name": "Ana"}"#
    let first = decide(
      Sample.view(
        ride: before, events: [event(1, "driver_arrived", driver: "d1")], phones: Self.phones),
      by: Sample.book(Self.rules), now: Sample.now)
    var memo = first.settled([.unsent(.refusedStream)], now: Sample.now, jitter: { 1 }).memo
    // The change is handled while the push waits.
    let change = decision(
      [event(2, "requested", driver: "d2", former: Self.image("d1", "Ana"))], memo: memo)
    #expect(sent(change) == ["2 d2 Bea d2"])
    memo = change.settled([.accepted], now: Sample.now, jitter: { 1 }).memo
    let due = try #require(memo.waiting.first?.due)
    let last = decide(
      Sample.view(ride: Self.ride, events: [], phones: Self.phones, memo: memo),
      by: Sample.book(Self.rules), now: due)
    #expect(sent(last) == ["1 d1 Ana d1"])
  }

  @Test func `a card is not started for a driver who has left`() {
    let resolver = RecipientResolver([
      event(1, "driver_arrived", driver: "d1"),
      event(2, "requested", driver: "d2", former: Self.image("d1", "Ana")),
    ])
    let context = TemplateContext(
      ride: Self.ride, attributes: .object([:]), event: event(1, "driver_arrived", driver: "d1"))
    #expect(resolver.recipients(of: .driver, in: context).first?.owner == "d1")
    #expect(resolver.recipients(of: .driver, in: context).first?.image != nil)
    #expect(resolver.recipients(of: .customer, in: context) == .init(first: .init(owner: "c")))
  }
}
