import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// R88: `at: contact` fires once, and again after another contact.
@Suite("at: contact") struct LostContactTests {
  /// A ride of driver `d`, decided whenever it is due, with contacts at chosen times.
  private struct Stage {
    var rule = Sample.rule("lost", app: .driver)
    var view = Sample.view(events: [])
    /// Its app has reported a contact before.
    var contacts: [Double] = [-60]
    var fired: [Double] = []
    var decisions = 0

    init(_ limit: Int64 = 120, while states: Set<String> = ["driver_arrived"]) {
      rule.when = .at(Timing(.times([RuleTime(.contact, by: .seconds(limit))]), while: states))
      view.ride?.updatedAt = Sample.now
    }

    static func at(_ minutes: Double) -> Timestamp {
      Sample.now + .microseconds(Int64(minutes * 6e7))
    }

    mutating func emit(_ name: String, at minutes: Double, driver former: OwnerID? = nil) {
      var event = RideEvent(
        id: Int64(minutes * 1000) + 1, name: name, at: Self.at(minutes))
      if let former {
        event.people = EventPeople(
          customer: "c", driver: view.ride?.driverID, former: RideImage(driver: former))
      }
      view.events.append(event)
      view.ride?.updatedAt = event.at
    }

    @discardableResult
    mutating func decide(at minutes: Double) -> Double? {
      decisions += 1
      let now = Self.at(minutes)
      let last = contacts.filter { $0 <= minutes }.max()
      view.contacts = last.map { [OwnerContact(app: .driver, owner: "d", at: Self.at($0))] } ?? []
      let decision = RideCore.decide(view, by: Sample.book([rule]), now: now)
      fired += decision.pushes.map {
        Double(($0.entry.event.at - Sample.now).microseconds) / 6e7
      }
      let settled = decision.settled(decision.pushes.map { _ in .accepted }, now: now) { 0.5 }
      view.apply(settled)
      return settled.nextDue.map { Double(($0 - Sample.now).microseconds) / 6e7 }
    }

    mutating func run(from start: Double = 0, until end: Double) {
      var due = decide(at: start)
      while let next = due, next <= end { due = decide(at: next) }
    }
  }

  /// When the owner makes contact, and when the rule fires in half an hour.
  static let contacts: [(at: [Double], fires: [Double])] = [
    // Without any contact it does not fire. It counts from the entry into the states.
    ([], []), ([-30], [2]), ([-1], [2]),
    ([1], [3]), ([1, 2, 3, 4], [6]),
    // Once, until the next contact.
    ([10], [12]), ([10, 20], [12, 22]), ([1, 2, 3, 20, 21], [5, 23]),
    ((0...30).map(Double.init), []),
  ]

  @Test(arguments: contacts.indices)
  func `R88: once, two minutes after the last contact`(index: Int) {
    var stage = Stage()
    stage.contacts = Self.contacts[index].at
    stage.emit("driver_arrived", at: 0)
    stage.run(until: 30)
    #expect(stage.fired == Self.contacts[index].fires)
    // It is evaluated when contact can be lost at the earliest, and not more often.
    #expect(stage.decisions <= 20)
  }

  @Test func `not outside the states, and counted anew from their entry`() {
    var stage = Stage()
    stage.emit("driver_arrived", at: 0)
    stage.decide(at: 0)
    stage.view.ride?.state = "requested"
    stage.emit("requested", at: 1)
    #expect(stage.decide(at: 1) == nil)
    stage.view.ride?.state = "driver_arrived"
    stage.emit("driver_arrived", at: 10)
    stage.run(from: 10, until: 20)
    #expect(stage.fired == [12])
  }

  @Test func `it outlives the states: without another contact, it does not fire again`() {
    var stage = Stage()
    stage.emit("driver_arrived", at: 0)
    stage.run(until: 5)
    stage.view.ride?.state = "requested"
    stage.emit("requested", at: 6)
    stage.decide(at: 6)
    stage.view.ride?.state = "driver_arrived"
    stage.emit("driver_arrived", at: 7)
    stage.run(from: 7, until: 30)
    #expect(stage.fired == [2])
    stage.contacts = [31]
    stage.run(from: 31, until: 60)
    #expect(stage.fired == [2, 33])
  }

  @Test func `another driver has two minutes of their own`() {
    var stage = Stage()
    stage.emit("driver_arrived", at: 0)
    stage.run(until: 4)
    stage.view.ride?.driverID = "d"
    stage.emit("ride_updated", at: 5, driver: "former")
    stage.run(from: 5, until: 30)
    #expect(stage.fired == [2, 7])
  }

  @Test func `a ride without a driver loses nobody`() {
    var stage = Stage()
    stage.view.ride?.driverID = nil
    stage.emit("driver_arrived", at: 0)
    #expect(stage.decide(at: 0) == nil)
    stage.view.ride?.driverID = "d"
    stage.emit("ride_updated", at: 10)
    stage.run(from: 10, until: 30)
    #expect(stage.fired == [12])
  }

  @Test func `a late service fires with the time at which contact was lost`() {
    var stage = Stage()
    stage.contacts = [5]
    stage.emit("driver_arrived", at: 0)
    stage.decide(at: 0)
    stage.decide(at: 9)
    #expect(stage.fired == [7])
    stage.contacts = [10]
    stage.decide(at: 30)
    // Its push was valid for five minutes.
    #expect(stage.fired == [7])
  }

  @Test func `R73: a ride that nobody changes for a day is not evaluated for ever`() {
    var stage = Stage(3600)
    stage.emit("driver_arrived", at: 0)
    stage.run(until: 5 * 1440)
    #expect(stage.fired == [60] && stage.decisions < 30)
  }
}
