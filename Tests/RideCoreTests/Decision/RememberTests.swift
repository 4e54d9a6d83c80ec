import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

@Suite("remember") struct RememberTests {
  @Test func `U3: remember keeps columns of the ride, and times to the microsecond`() throws {
    let columns: [(name: String, change: (inout Ride) -> Void)] = [
      ("state", { $0.state = "requested" }), ("customer_id", { $0.customerID = "c2" }),
      ("driver_id", { $0.driverID = nil }), ("time_zone", { $0.timeZone = "Europe/Vienna" }),
      ("pickup_at", { $0.pickupAt = Sample.now + .microseconds(1) }),
      ("updated_at", { $0.updatedAt = Sample.now + .microseconds(1) }),
    ]
    for (name, change) in columns {
      let rule = try ConditionTests.rule(
        "last == null || last.\(name) != ride.\(name)", remembering: [[name], ["eta"]],
        on: "ride_updated")
      let attributes = #"{"plate": "B", "eta": 1, "\#(name)": "attribute"}"#
      var view = ConditionTests.view(attributes, on: "ride_updated")
      view.phones.append(Sample.phone(3, owner: "c2", token: Sample.driverToken))
      view.ride?.pickupAt = Sample.now
      view.ride?.updatedAt = Sample.now
      var sent: [Int] = []
      for number in 1...4 {
        if number == 3, var ride = view.ride {
          change(&ride)
          view.ride = ride
        }
        view.events = [Sample.event(Int64(number), "ride_updated")]
        let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
        let isSent = decision.settlement.falseConditions.isEmpty
        if isSent { sent.append(number) }
        let phone = decision.pushes.map { _ in PushOutcome.accepted }
        let memo = decision.settled(phone, now: Sample.now) { 0 }.memo
        view.memo = try Memo(storedText: memo.storedText)
      }
      #expect(sent == [1, 3], "\(name)")
    }
  }

  @Test func `U3: an attribute with the name of a column is remembered below attributes`() throws {
    let rule = try ConditionTests.rule(
      "last == null || last.attributes.state != ride.attributes.state || last.state != ride.state",
      remembering: [["attributes", "state"], ["state"]])
    var memo = Memo()
    var sent: [String] = []
    for (index, state) in ["x", "x", "y", "y"].enumerated() {
      let view = ConditionTests.view(
        "{\"plate\": \"B\", \"state\": \"\(state)\"}", id: Int64(index + 1), memo: memo)
      let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
      if !decision.pushes.isEmpty { sent.append("\(index) \(state)") }
      memo = decision.settled(decision.pushes.map { _ in .accepted }, now: Sample.now) { 0 }.memo
    }
    #expect(sent == ["0 x", "2 y"])
    #expect(
      memo.conditions["arrived"]?.last == #"{"attributes":{"state":"y"},"state":"driver_arrived"}"#)
  }

  @Test func `U3: a remembered time of the ride is a time`() throws {
    let rule = try ConditionTests.rule(
      "last == null || ride.pickup_at - last.pickup_at > duration('10m')",
      remembering: [["pickup_at"]])
    var view = ConditionTests.view(#"{"plate": "B"}"#)
    var sent: [Int64] = []
    for minutes in [0, 5, 10, 11, 30] as [Int64] {
      view.ride?.pickupAt = Sample.now + .seconds(60 * minutes)
      view.events = [Sample.event(minutes + 1)]
      let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
      if !decision.pushes.isEmpty { sent.append(minutes) }
      let outcomes = decision.pushes.map { _ in PushOutcome.accepted }
      view.memo = decision.settled(outcomes, now: Sample.now) { 0 }.memo
    }
    #expect(sent == [0, 11, 30])
  }
}
