import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// How cards on Android phones end, and what may be on a screen though nothing is recorded.
@Suite struct AndroidCardEndTests {
  private func started(_ ids: Int64...) -> CardStage {
    var stage = CardStage.android()
    stage.phones = (ids.isEmpty ? [7] : ids).map { CardStage.androidPhone($0) }
    stage.state("driver_assigned")
    stage.run()
    return stage
  }

  @Test func `a cancelled ride whose start is unanswered sends an end`() throws {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.claim { _ in .unanswered(.timeout) }
    stage.wait(1)
    stage.state("cancelled")
    stage.run(for: .seconds(60))
    #expect(stage.messageEvents == ["start", "end"])
    #expect(stage.messages[1].timestamp > stage.messages[0].timestamp)
    #expect(stage.reasons.contains("superseded: superseded by the end"))
    #expect(!stage.ledger.values.contains { $0.status == .pending })
    #expect(stage.due == nil)
  }

  @Test func `a takeover sends the start that may have left again, later than it`() {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.claim(crash: .afterSending)
    stage.isTakenOver = true
    stage.run()
    #expect(stage.messageEvents == ["start", "start"])
    #expect(stage.messages[0].id == stage.messages[1].id)
    #expect(stage.messages[1].timestamp > stage.messages[0].timestamp)
  }

  @Test func `a takeover ends a start that may have left if the ride is over by then`() {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.claim(crash: .afterSending)
    stage.wait(30)
    stage.state("cancelled")
    stage.isTakenOver = true
    stage.run()
    #expect(stage.messageEvents == ["start", "end"])
    #expect(stage.messages[1].timestamp > stage.messages[0].timestamp)
    #expect(stage.due == nil)
  }

  @Test func `without a takeover, a ride that is over at once shows nothing`() {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.state("cancelled")
    stage.run()
    #expect(stage.messages.isEmpty)
  }

  @Test func `a takeover ends a start on a former owner's phone`() throws {
    var stage = CardStage.android()
    stage.state("driver_assigned")
    stage.claim(crash: .afterSending)
    stage.wait(30)
    stage.ride.customerID = "c2"
    stage.emit("ride_updated")
    stage.events[1].people = EventPeople(
      customer: "c2", driver: "d", former: RideImage(customer: "c", driver: "d"))
    stage.isTakenOver = true
    stage.run()
    #expect(stage.messageEvents == ["start", "end"])
    #expect(stage.messages[1].state == nil)
  }

  @Test func `a former owner's card ends at once, without the ride's new state`() throws {
    var stage = started()
    stage.data = ["customer": .value(Sample.text("{{ride.customer_id}}"))]
    stage.ride.customerID = "c2"
    stage.phones.append(CardStage.androidPhone(8, owner: "c2"))
    stage.wait(20)
    stage.eta(9)
    stage.run(for: .seconds(200))
    let former = stage.messages(to: 7)
    #expect(former.map(\.event) == ["start", "end"])
    let end = try #require(former.last)
    #expect(end.state == nil && end.look == nil && end.data("customer") == nil)
    #expect(end.number("rp_gone_at") == Sample.now.epochSeconds + 20)
    #expect(stage.messages(to: 8).first?.event == "start")
    #expect(stage.messages(to: 8).first?.data("customer") == "c2")
  }

  @Test func `an end that was committed late and is older than the start is ignored`() {
    var stage = CardStage.android()
    stage.life.end = ["payment_failed"]
    stage.wait(60)
    stage.state("driver_assigned")
    stage.run(for: .seconds(1))
    stage.emit("payment_failed")
    stage.events[0].at = Sample.now
    stage.run(for: .seconds(30))
    #expect(stage.messageEvents == ["start"])
    stage.emit("payment_failed")
    stage.run(for: .seconds(1))
    #expect(stage.messageEvents == ["start", "end"])
  }

  @Test func `after the end, a new event of start shows the card again`() {
    var stage = started()
    stage.life.end = ["driver_lost"]
    for _ in 0..<2 {
      stage.wait(20)
      stage.emit("driver_lost")
      stage.run(for: .seconds(20))
      stage.eta(1)
      stage.run(for: .seconds(200))
      stage.state("driver_assigned")
      stage.run()
    }
    #expect(stage.messageEvents == ["start", "end", "start", "end", "start"])
    let runs = stage.messages.compactMap { $0.number("rp_run") }
    #expect(runs.count == 5 && runs[0] == runs[1] && runs[2] == runs[3])
    #expect(runs[1] < runs[2] && runs[3] < runs[4], "\(runs)")
    let stamps = stage.messages.map(\.timestamp)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    #expect(Set(stage.messages.map(\.id)).count == 5, "each has a row of its own")
    #expect(stage.messages.allSatisfy { $0.event == "end" || $0.data("rp_attributes") != nil })
  }

  @Test func `a ride that comes back to the agenda has later runs, IDs and timestamps`() throws {
    var stage = started()
    stage.wait(20)
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.due == nil && stage.messageEvents == ["start", "end"])
    // The memo is in the agenda's row.
    stage.memo = Memo()
    stage.state("driver_assigned")
    stage.run()
    stage.eta(1)
    stage.run(for: .seconds(30))
    #expect(stage.messageEvents == ["start", "end", "start", "update"])
    let runs = stage.messages.compactMap { $0.number("rp_run") }
    #expect(runs.count == 4 && runs[1] < runs[2] && runs[2] == runs[3], "\(runs)")
    #expect(Set(stage.messages.map(\.id)).count == 4, "each has a row of its own")
    let stamps = stage.messages.map(\.timestamp)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `starts within one second have runs of their own`() {
    var stage = started()
    stage.life.end = ["driver_lost"]
    stage.emit("driver_lost")
    stage.run()
    stage.state("driver_assigned")
    stage.run(for: .seconds(30))
    let runs = stage.messages.compactMap { $0.number("rp_run") }
    #expect(runs.first.map { runs.last == $0 + 1 } == true, "\(runs)")
  }

  @Test func `a new event of start replaces an end that is tried again`() {
    var stage = started()
    stage.life.end = ["driver_lost"]
    stage.wait(20)
    stage.emit("driver_lost")
    stage.claim { _ in .refused(503, "UNAVAILABLE") }
    stage.wait(1)
    stage.state("driver_assigned")
    stage.run(for: .seconds(60))
    #expect(stage.messageEvents == ["start", "start"])
    #expect(!stage.ledger.values.contains { $0.status == .pending })
  }

  @Test(arguments: [true, false])
  func `a dismissed card is not shown again in this ride`(isByInstallation: Bool) {
    var stage = started(7, 8)
    var row = Card(
      .phone(isByInstallation ? 99 : 7), app: .customer, ownerID: "c", token: "7",
      registeredAt: stage.now, isGone: true)
    row.installationID = "one"
    stage.phones[0].installationID = "one"
    stage.cards = [row]
    stage.life.end = ["driver_lost"]
    for event in ["card_ended", "driver_lost", "driver_assigned"] {
      stage.wait(20)
      stage.emit(event)
      stage.run(for: .seconds(10))
    }
    #expect(stage.messages(to: 7).map(\.event) == ["start"])
    #expect(stage.messages(to: 8).map(\.event) == ["start", "end", "start"])
  }

  @Test func `a dismissed card of another person keeps nothing from this one`() {
    var stage = CardStage.android()
    stage.cards = [
      Card(
        .phone(7), app: .customer, ownerID: "before", token: "7", registeredAt: stage.now,
        isGone: true)
    ]
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.messageEvents == ["start"])
  }

  @Test func `a dismissed Android card stops no start on an iPhone`() {
    var stage = CardStage.android()
    stage.phones.append(Sample.phone(1))
    stage.cards = [
      Card(
        .phone(7), app: .customer, ownerID: "c", token: "7", registeredAt: stage.now, isGone: true)
    ]
    stage.offerStart()
    stage.state("driver_assigned")
    stage.run()
    #expect(stage.messages.isEmpty && stage.wire.map(\.event) == ["start"])
  }

  @Test func `who turns cards off has theirs removed at once, and shown again at the next start`() {
    var stage = CardStage.android()
    stage.topic = "card"
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.optOuts = [OptOut(app: .customer, owner: "c", topic: "card")]
    stage.eta(1)
    stage.run(for: .seconds(200))
    #expect(stage.messageEvents == ["start", "end"])
    #expect(stage.messages.last?.number("rp_gone_at") == Sample.now.epochSeconds + 20)
    stage.optOuts = []
    stage.emit("driver_assigned")
    stage.run()
    #expect(stage.messageEvents == ["start", "end", "start"])
  }

  /// A ride whose end is to have texts of these lengths in the rule's data, the state and the look.
  private func ended(note: Int, state: Int, look: Int) -> CardStage {
    var stage = CardStage.android()
    let text = "{{ride.attributes.KEY | default: 'short'}}"
    stage.data = ["note": .value(Sample.text(text.replacing("KEY", with: "note")))]
    stage.life.contentState["long"] = .value(Sample.text(text.replacing("KEY", with: "state")))
    var android = AndroidLook()
    android.title = LocalizedText(Sample.text(text.replacing("KEY", with: "look")))
    stage.life.android = android
    stage.state("driver_assigned")
    stage.run()
    func filled(_ count: Int) -> String { String(repeating: "x", count: count) }
    stage.ride.attributes =
      #"{"note": "\#(filled(note))", "state": "\#(filled(state))", "look": "\#(filled(look))"}"#
    stage.wait(60)
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    return stage
  }

  @Test(
    arguments: [
      (10, 10, 10, ["note", "rp_look", "rp_state"], ""),
      (4000, 10, 10, ["rp_look", "rp_state"], "ended without data: MESSAGE_TOO_LARGE"),
      (10, 4000, 10, ["rp_look"], "ended without data, rp_state: MESSAGE_TOO_LARGE"),
      (4000, 4000, 10, ["rp_look"], "ended without data, rp_state: MESSAGE_TOO_LARGE"),
      (10, 10, 4000, [], "ended without data, rp_state, rp_look: MESSAGE_TOO_LARGE"),
    ] as [(Int, Int, Int, [String], String)])
  func `an end that is too large leaves without what it can do without`(
    note: Int, state: Int, look: Int, kept: [String], reason: String
  ) throws {
    let stage = ended(note: note, state: state, look: look)
    #expect(stage.messageEvents == ["start", "end"])
    let end = try #require(stage.messages.last)
    #expect(["note", "rp_look", "rp_state"].filter { end.data($0) != nil } == kept)
    // Without content, the app would show an empty card until the dismissal.
    let goneAt = kept.isEmpty ? end.seconds : end.seconds + 600
    #expect(end.number("rp_gone_at") == CardStage.start.epochSeconds + Int64(goneAt))
    let entry = try #require(stage.ledger[end.id])
    #expect(entry.status == .accepted)
    #expect(reason.isEmpty ? entry.reason == nil : entry.reason?.text.hasPrefix(reason) == true)
    #expect(stage.due == nil)
  }

  @Test func `an end leaves without a key of data that it lacks, or that is reserved by now`()
    throws
  {
    for (key, value) in [("note", "{{ride.attributes.gone}}"), ("rp_state", "x")] {
      var stage = started()
      stage.data = [key: .value(Sample.text(value))]
      stage.wait(60)
      stage.state("ride_completed")
      stage.run(for: .seconds(60))
      #expect(stage.messageEvents == ["start", "end"])
      #expect(stage.messages.last?.status == "ride_completed")
      #expect(stage.messages.last?.data("note") == nil)
    }
  }

  @Test func `an end is tried for twelve hours`() {
    var stage = started()
    stage.wait(60)
    stage.state("ride_completed")
    stage.run(for: .seconds(13 * 3600)) { _ in .refused(503, "UNAVAILABLE") }
    #expect(stage.due == nil && stage.gone.isEmpty)
    #expect(stage.reasons == ["accepted: ", "expired: a card stays at most 12 hours"])
  }

  @Test func `the end of a ride that is gone shows nothing of it`() {
    var stage = started()
    var view = stage.view
    view.ride = nil
    view.events = [RideEvent(id: 9, name: "ride_deleted", at: stage.now)]
    let now = stage.now + .seconds(20)
    let end = decide(view, by: stage.configuration, now: now).pushes
    #expect(end.map(\.entry.cardEvent) == [.end])
    stage.wire = end.map { CardStage.Arrival(at: now, push: $0, aps: .null) }
    #expect(stage.messages.first?.state == nil)
    #expect(stage.messages.first?.number("rp_gone_at") == now.epochSeconds)
  }
}
