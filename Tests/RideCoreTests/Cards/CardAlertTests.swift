import Base
import Foundation
import Testing

@testable import RideCore

@Suite("Alerts of cards") struct CardAlertTests {
  private func stage(alsoWithCard: Bool = false) -> CardStage {
    var stage = CardStage()
    var rule = Sample.rule(body: "{{ride.state}}")
    rule.withCard = alsoWithCard ? .send : nil
    stage.others = [rule]
    stage.register()
    stage.run(for: .seconds(20))
    stage.wire = []
    stage.ledger = [:]
    stage.state("driver_arrived")
    return stage
  }

  @Test func `an alert that a card shows is not sent again`() {
    var stage = stage()
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [true])
    #expect(stage.reasons == ["accepted: ", "suppressed: covered by the card"])
  }

  @Test func `unless the rule states so`() {
    var stage = stage(alsoWithCard: true)
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard).filter { !$0 }.count == 1)
  }

  /// An outcome of the card's push, and the rules whose alerts are sent: the card shows none.
  private static let yielding: [(PushOutcome, sent: [String])] = [
    (.accepted, []),
    (.refused(Refusal(status: 410, reason: "Unregistered")), ["arrived"]),
  ]

  @Test(arguments: yielding.indices)
  func
    `an alert that is skipped on a phone with a card leaves a phone to its card, if the card is there`(
      index: Int
    )
  {
    let (outcome, sent) = Self.yielding[index]
    var stage = stage()
    stage.life.alerts = [:]
    stage.others[0].withCard = .skip
    stage.run(for: .seconds(60)) { push in
      push.headers.pushType == .alert ? .accepted : outcome
    }
    #expect(stage.wire.filter { !$0.isCard }.map(\.push.entry.rule) == sent)
    let own = stage.ledger.values.first { $0.rule == "arrived" }
    #expect(own?.reason == (sent.isEmpty ? .coveredByCard : nil))
  }

  @Test
  func
    `an alert that is skipped on a phone with a card leaves a phone to a card that has nothing new to show`()
  {
    var stage = stage()
    stage.events = []
    stage.ride.state = "requested"
    var rule = Sample.rule("nearby", on: ["eta_changed"], body: "{{ride.state}}")
    rule.withCard = .skip
    stage.others = [rule]
    stage.emit("eta_changed")
    stage.run(for: .seconds(10))
    #expect(stage.wire.isEmpty)
    let own = stage.ledger.values.first { $0.rule == "nearby" }
    #expect(own?.status == .suppressed && own?.reason == .skippedForCard)
  }

  @Test func `an alert that is skipped on a phone with a card is sent to a phone without a card`() {
    var stage = CardStage()
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.others[0].withCard = .skip
    stage.state("driver_arrived")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [false])
  }

  @Test func `an alert that waits for its card is superseded by a newer one of its collapse key`() {
    var stage = stage()
    stage.others = ["driver_arrived", "ride_completed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    // The card's update is retried and the alert waits for it; then the ride ends.
    stage.run(for: .seconds(1)) { _ in .refused(503, "Shutdown") }
    #expect(stage.memo.waiting.map(\.entry.rule) == ["driver_arrived"])
    stage.state("ride_completed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { !$0.isCard }.map(\.push.entry.rule) == ["ride_completed"])
    let arrival = stage.ledger.values.first { $0.rule == "driver_arrived" }
    #expect(
      arrival?.status == .superseded && arrival?.reason?.text == "superseded by ride_completed")
  }

  @Test func `a card does not show an alert after the push that superseded it`() {
    var stage = stage()
    stage.others = ["driver_arrived", "eta_changed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    stage.run(for: .seconds(1)) { _ in .refused(503, "Shutdown") }
    // An event that leaves the ride in its state: the card's next update would still alert.
    stage.emit("eta_changed")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { $0.title != nil }.map(\.push.entry.rule) == ["eta_changed"])
    #expect(stage.ledger.values.first { $0.rule == "driver_arrived" }?.status == .superseded)
  }

  @Test func `R70: an alert that the card shows supersedes an older one of its collapse key`() {
    var stage = CardStage()
    stage.others = ["driver_assigned", "driver_arrived"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    stage.register()
    stage.run(for: .seconds(20))
    stage.wire = []
    stage.state("driver_assigned")
    stage.state("driver_arrived")
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { !$0.isCard }.isEmpty)
    #expect(stage.ledger.values.first { $0.rule == "driver_assigned" }?.status == .superseded)
  }

  @Test func `a card that shows an alert in the same pass supersedes nothing`() {
    var stage = stage()
    stage.others = ["driver_arrived", "eta_changed"].map {
      Sample.rule($0, on: [$0], collapse: "ride-{{ride.id}}")
    }
    stage.emit("eta_changed")
    stage.run(for: .seconds(60))
    #expect(stage.reasons.filter { $0 == "suppressed: covered by the card" }.count == 1)
    #expect(stage.wire.filter { !$0.isCard }.map(\.push.entry.rule) == ["eta_changed"])
  }

  @Test func `if the card shows no alert for an event, the ordinary alert is sent`() {
    var stage = stage()
    stage.life.alerts = [:]
    stage.run(for: .seconds(60))
    #expect(stage.wire.contains { !$0.isCard })
  }

  @Test func `a card that turns out to be gone does not swallow the alert`() {
    var stage = stage()
    let since = stage.now
    stage.run(for: .seconds(5)) { push in
      push.headers.pushType == .alert ? .accepted : .refused(410, "Unregistered", since: since)
    }
    #expect(stage.wire.map(\.isCard) == [false])
    #expect(stage.wire.first?.seconds ?? 99 < 21)
    #expect(Set(stage.ledger.values.map(\.status)) == [.rejected, .accepted])
  }

  /// An outcome of the card's push: whether the alert leaves by itself, and after how many seconds.
  static let outcomes: [(PushOutcome, isOrdinary: Bool)] = [
    (.accepted, false), (.refused(503, "Shutdown"), true), (.refused(429, "TooManyRequests"), true),
    (.refused(400, "BadDeviceToken"), true), (.refused(410, "Unregistered"), true),
    (.unsent(.noConnection("down")), true), (.unsent(.paused(for: .seconds(2))), true),
    (.unanswered(.timeout), true),
    // A stop tries neither: the next claim sends the card's push.
    (.unsent(.closed), false),
  ]

  @Test(arguments: outcomes)
  func `R72: the alert leaves at once if its card's first push is not accepted, and is shown once`(
    outcome: PushOutcome, isOrdinary: Bool
  ) throws {
    var stage = stage()
    let begin = stage.now
    var answers = [outcome]
    stage.run(for: .seconds(100)) { push in
      push.headers.pushType == .alert ? .accepted : answers.popLast() ?? .accepted
    }
    let alerts = stage.wire.filter { $0.title != nil && $0.push.address.text != "" }
    let shown = try #require(alerts.last)
    #expect(shown.isCard != isOrdinary && shown.at <= begin + .microseconds(1))
    // A push without an answer may have shown it as well.
    #expect(alerts.count == (outcome.mayHaveArrived && isOrdinary ? 2 : 1))
    #expect(!stage.reasons.contains { $0.hasPrefix("pending") })
  }

  @Test func `R72: an alert does not wait for a card whose retry is still to come`() {
    var stage = stage()
    stage.events = []
    stage.eta(1)
    stage.run { _ in .refused(429, "TooManyRequests") }
    stage.wait(1)
    stage.state("driver_arrived")
    stage.claim()
    #expect(stage.wire.map(\.isCard) == [false])
    stage.run(for: .seconds(100))
    #expect(stage.wire.count { $0.title != nil } == 1)
  }

  @Test func `if the card fails for good, the alert is sent while it is valid`() {
    var stage = stage()
    var fails = 0
    let since = stage.now
    stage.run(for: .seconds(100)) { push in
      if push.headers.pushType == .alert { return .accepted }
      fails += 1
      return fails < 3 ? .refused(503, "Shutdown") : .refused(410, "Unregistered", since: since)
    }
    #expect(stage.wire.map(\.isCard) == [false])
    #expect(stage.memo.waiting.isEmpty)
  }

  @Test func `an alert that a card can't show is sent at once`() throws {
    var stage = stage()
    stage.life.contentState["plate"] = .value(Sample.text("{{ride.attributes.wheels}}"))
    stage.claim()
    #expect(stage.wire.map(\.isCard) == [false])
    try #require(stage.due ?? stage.now > stage.now && stage.memo.waiting.isEmpty)
    // Once the card can be rendered, it does not repeat the alert.
    stage.ride.attributes = #"{"wheels": 4}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [false, true])
    #expect(stage.wire.last?.title == nil)
  }

  @Test func `R72: an event with an alert is urgent, whatever urgent names`() {
    var stage = stage()
    stage.life.urgent = []
    stage.events = []
    stage.eta(1)
    stage.run(for: .seconds(5))
    stage.state("driver_arrived")
    stage.claim()
    #expect(stage.wire.map { $0.title != nil } == [false, true])
    #expect(stage.wire.map(\.priority) == [5, 10])
    #expect(stage.reasons.contains("suppressed: covered by the card"))
  }

  /// The installations of the card and of two phones, and the phones that are alerted.
  static let installations: [(card: InstallationID?, phones: [InstallationID?], alerted: [Int64])] =
    [
      ("a", ["a", "b"], [2]), ("a", ["b", "a"], [1]), ("a", ["b", "c"], [1, 2]),
      ("a", ["a", nil], [2]), ("a", [nil, nil], [1, 2]), (nil, ["a", "b"], [1, 2]),
      (nil, [nil, nil], [1, 2]), (nil, ["a"], []), (nil, [nil], []), ("a", [nil], []),
      ("a", ["b"], [1]),
    ]

  @Test(arguments: installations)
  func `R74: a card shows an alert in the place of its own phone's, and of no other's`(
    card: InstallationID?, phones: [InstallationID?], alerted: [Int64]
  ) {
    var stage = stage()
    stage.cards[0].installationID = card
    stage.phones = phones.enumerated().map { index, installation in
      var phone = Sample.phone(Int64(index + 1), token: "\(index + 1)a")
      phone.installationID = installation
      return phone
    }
    stage.run(for: .seconds(60))
    #expect(stage.wire.filter { !$0.isCard }.compactMap(\.push.entry.phone) == alerted)
    #expect(stage.wire.count { $0.isCard && $0.title != nil } == 1)
  }

  @Test func `R74: a card that was dismissed does not silence the alert`() {
    var stage = stage()
    stage.cards[0].isGone = true
    stage.emit("card_ended")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [false])
  }

  @Test func `R74: dismissed while its alert waits, it leaves the alert to the phone`() {
    var stage = stage()
    stage.claim { _ in .unsent(.closed) }
    #expect(stage.wire.isEmpty)
    stage.cards[0].isGone = true
    stage.emit("card_ended")
    stage.run(for: .seconds(60))
    #expect(stage.wire.map(\.isCard) == [false])
  }

  @Test func `R74: phones of a later part are alerted unless their card showed the alert`() {
    var stage = stage()
    stage.cards[0].installationID = "a"
    stage.phones = (1...Int64(OpenPart.size + 1)).map { number in
      var phone = Sample.phone(number, token: String(format: "%04x", number))
      phone.installationID = number == Int64(OpenPart.size) + 1 ? "a" : "b"
      return phone
    }
    stage.run(for: .seconds(60))
    #expect(stage.wire.count { !$0.isCard } == OpenPart.size)
    #expect(stage.reasons.count { $0 == "suppressed: covered by the card" } == 1)
  }
}
