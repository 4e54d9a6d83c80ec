import Foundation
import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// R90: `escalate` emits an event for an owner who sees no push of a firing in time.
@Suite("escalate") struct EscalationTests {
  private static let offer = #"{"driver_id": "d", "fare": 12}"#

  private struct Stage {
    var rule = Sample.rule(
      "offer", app: .driver, on: ["eta_changed"], expires: .after(.seconds(15)))
    var view: RideView
    var verdicts: [String] = []

    init(phones: [Phone]? = nil, data: String = EscalationTests.offer) {
      rule.when = .on(["eta_changed"], while: ["driver_arrived"])
      rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "offer_unseen")
      let event = RideEvent(id: 1, name: "eta_changed", at: Sample.now, data: data)
      view = Sample.view(events: [event], phones: phones)
      view.reporters = [PhoneOwner(.driver, "d")]
    }

    @discardableResult
    mutating func decide(
      at seconds: Double, _ outcome: PushOutcome = .accepted
    ) -> Settlement {
      let now = Sample.now + .microseconds(Int64(seconds * 1e6))
      let decision = RideCore.decide(view, by: Sample.book([rule]), now: now)
      let settled = decision.settled(decision.pushes.map { _ in outcome }, now: now) { 0.5 }
      view.apply(settled)
      view.events.removeAll { $0.name == "offer_unseen" }
      verdicts += settled.entries.map { "\($0.status.rawValue): \($0.reason?.text ?? "")" }
      return settled
    }
  }

  @Test func `R90: unseen, it emits once, with the cause's data and the owner`() {
    var stage = Stage(data: #"{"fare": 12}"#)
    let first = stage.decide(at: 0)
    #expect(first.nextDue == Sample.now + .seconds(6) && first.emits.isEmpty)
    #expect(
      stage.verdicts.contains(
        "pending: waits for a receipt: emits offer_unseen unless seen by 2027-01-15T08:00:06Z"))
    #expect(stage.decide(at: 5.9).emits.isEmpty)
    let last = stage.decide(at: 6)
    #expect(last.emits.map(\.name) == ["offer_unseen"])
    #expect(last.emits.map(\.data) == [#"{"driver_id":"d","fare":12}"#])
    #expect(stage.verdicts.last == "accepted: emitted offer_unseen: not seen within 6s")
    #expect(stage.decide(at: 7).emits.isEmpty && stage.view.memo.isEmpty)
  }

  @Test func `seen on any of the owner's phones, nothing follows`() throws {
    var stage = Stage(phones: [
      Sample.phone(2, app: .driver, owner: "d", token: Sample.driverToken),
      Sample.phone(3, app: .driver, owner: "d", token: "abcdef"),
    ])
    stage.decide(at: 0)
    let awaited = try #require(stage.view.memo.waiting.first?.wait.awaited)
    #expect(awaited.count == 2)
    stage.view.seen = [awaited[1]]
    #expect(stage.decide(at: 6).emits.isEmpty)
    #expect(stage.verdicts.last == "accepted: seen in time" && stage.view.memo.isEmpty)
  }

  @Test func `the payload carries the push's ID, by which the app reports it`() throws {
    var stage = Stage(phones: [
      Sample.phone(2, app: .driver, owner: "d", token: Sample.driverToken),
      Sample.phone(3, app: .driver, owner: "d", token: "abcdef"),
    ])
    let pushes = RideCore.decide(stage.view, by: Sample.book([stage.rule]), now: Sample.now).pushes
    #expect(pushes.count == 2)
    for push in pushes {
      let id = JSONValue(json: push.payload)?.value(at: ["apns_id"])
      #expect(id == .string(push.headers.id.description))
    }
    stage.rule.data = ["apns_id": .literal(.string("own"))]
    let own = try #require(
      RideCore.decide(stage.view, by: Sample.book([stage.rule]), now: Sample.now).pushes.first)
    #expect(JSONValue(json: own.payload)?.value(at: ["apns_id"]) == .string("own"))
  }

  @Test func `another push's receipt does not count`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.view.seen = [PushID(of: "other")]
    #expect(stage.decide(at: 6).emits.count == 1)
  }

  @Test func `a ride that left the states needs nobody any more`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.view.ride?.state = "requested"
    #expect(stage.decide(at: 6).emits.isEmpty)
    #expect(stage.verdicts.last == "suppressed: the ride is requested, not in while")
  }

  @Test func `R90: after the offer's own validity it is too late`() {
    var stage = Stage()
    stage.decide(at: 0)
    #expect(stage.decide(at: 15).emits.isEmpty)
    #expect(stage.verdicts.last == "expired: valid until 2027-01-15T08:00:15Z")
  }

  @Test func `an owner without a phone, or whose phone APNs refuses, sees nothing`() {
    var stage = Stage(phones: [])
    stage.decide(at: 0)
    #expect(stage.decide(at: 6).emits.count == 1)
    stage = Stage()
    stage.decide(at: 0, .refused(Refusal(status: 410, reason: "Unregistered")))
    #expect(stage.decide(at: 6).emits.count == 1)
  }

  @Test func `an owner whose phones show no alerts is not waited for, with or without receipts`() {
    var off = Sample.phone(2, app: .driver, owner: "d", token: Sample.driverToken)
    off.hasAlertsOff = true
    var stage = Stage(phones: [off])
    stage.view.reporters = []
    #expect(stage.decide(at: 0).emits.map(\.name) == ["offer_unseen"])
    #expect(stage.view.memo.waiting.isEmpty)
    #expect(
      stage.verdicts == [
        "suppressed: the phone's notifications are turned off",
        "accepted: emitted offer_unseen: no phone of the driver shows alerts",
      ])
    // One that shows them is waited for.
    stage = Stage(phones: [off, Sample.phone(3, app: .driver, owner: "d", token: "abcdef")])
    #expect(stage.decide(at: 0).emits.isEmpty)
    #expect(stage.view.memo.waiting.first?.wait.awaited?.count == 1)
    #expect(stage.decide(at: 6).emits.count == 1)
    // Turned off while the push waits.
    stage = Stage()
    stage.decide(at: 0, .unsent(.goAway(reason: nil)))
    for index in stage.view.phones.indices { stage.view.phones[index].hasAlertsOff = true }
    #expect(stage.decide(at: 2).emits.count == 1)
    #expect(stage.view.memo.waiting.isEmpty)
  }

  @Test func `a rule that holds its push back on purpose does not escalate`() throws {
    var stage = Stage()
    stage.rule.condition = try Condition("now - phone.contact > duration('1m')")
    for index in stage.view.phones.indices { stage.view.phones[index].contactedAt = Sample.now }
    #expect(stage.decide(at: 0).nextDue == nil)
    stage = Stage()
    stage.view.ride?.state = "requested"
    #expect(stage.decide(at: 0).nextDue == nil)
  }

  @Test func `a push that is retried in time keeps its escalation, and there is one`() {
    var stage = Stage()
    stage.decide(at: 0, .unsent(.goAway(reason: nil)))
    #expect(stage.view.memo.waiting.count == 2)
    stage.decide(at: 2)
    #expect(stage.view.memo.waiting.count == 1)
    #expect(stage.decide(at: 6).emits.count == 1)
  }

  @Test func `with wait, it counts from the end of the wait`() {
    var stage = Stage()
    stage.rule.delay(by: .seconds(60))
    stage.decide(at: 0)
    #expect(stage.decide(at: 6).emits.isEmpty)
    stage.decide(at: 60)
    #expect(stage.decide(at: 66).emits.count == 1)
  }

  @Test func `each owner has an escalation, also of a slot; the memo survives JSON`() throws {
    var stage = Stage()
    stage.rule.when = .at(Timing(.every(.seconds(60)), while: ["driver_arrived"]))
    stage.view.events = [Sample.event()]
    stage.decide(at: 0)
    var due: Timestamp?
    var emitted = 0
    for second in stride(from: 0.0, through: 200, by: 0.5) {
      let settled = stage.decide(at: second)
      emitted += settled.emits.count
      due = settled.nextDue
      let json = stage.view.memo.storedText
      #expect(try Memo(storedText: json) == stage.view.memo)
    }
    #expect(emitted == 3 && due != nil)
  }

  @Test func `an owner whose phones never reported a receipt causes no event, with the reason`() {
    var stage = Stage()
    stage.view.reporters = [PhoneOwner(.driver, "other"), PhoneOwner(.customer, "d")]
    stage.decide(at: 0)
    let open = stage.decide(at: 6)
    #expect(open.emits.isEmpty && open.nextDue == Sample.now + .seconds(15))
    #expect(open.entries.map(\.reason?.code) == [.engine(.waitingForReceipt)])
    let last = stage.decide(at: 15)
    #expect(last.emits.isEmpty && last.ownersReceipts.isEmpty && stage.view.memo.isEmpty)
    #expect(last.entries.map(\.reason?.code) == [.engine(.noReceipts)])
    #expect(last.entries.first?.reason?.text.contains("call seen") == true)
  }

  @Test func `one that is looked at only when its push is no longer valid has expired`() {
    var stage = Stage()
    stage.view.reporters = []
    stage.decide(at: 0)
    // It has not waited for a first receipt.
    let last = stage.decide(at: 15)
    #expect(last.entries.map(\.status) == [.expired] && last.emits.isEmpty)
    #expect(stage.verdicts.last == "expired: valid until 2027-01-15T08:00:15Z")
  }

  /// Also one that comes after the limit shows that there will be others.
  @Test(arguments: [6.0, 15.0])
  func `a receipt that an escalation awaits is its owner's`(seconds: Double) throws {
    var stage = Stage()
    stage.view.reporters = []
    stage.decide(at: 0)
    if seconds > 6 { stage.decide(at: 6) }
    let awaited = try #require(stage.view.memo.waiting.first?.wait.awaited?.first)
    stage.view.seen = [awaited]
    let first = stage.decide(at: seconds)
    #expect(first.emits.isEmpty && stage.verdicts.last == "accepted: seen in time")
    #expect(first.ownersReceipts == [OwnersReceipt(push: awaited, owner: PhoneOwner(.driver, "d"))])
  }

  @Test func `an owner without a phone has seen nothing, whatever phones report`() {
    var stage = Stage(phones: [])
    stage.view.reporters = []
    stage.decide(at: 0)
    #expect(stage.decide(at: 6).emits.count == 1)
  }

  @Test func `a rule that is gone, or that lost its key, emits nothing`() {
    var stage = Stage()
    stage.decide(at: 0)
    stage.rule.escalation = nil
    #expect(stage.decide(at: 6).emits.isEmpty)
    #expect(stage.verdicts.last == "suppressed: the rule is gone")
  }
}
