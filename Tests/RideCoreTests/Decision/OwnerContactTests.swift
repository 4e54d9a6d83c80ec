import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// `contact` in `if`: the owner's last contact, with or without a phone.
@Suite("contact in if") struct OwnerContactTests {
  private static let away = "contact == null || now - contact > duration('5m')"

  private func view(_ ages: [OwnerID: Int64], app: App = .customer) -> RideView {
    var view = ConditionTests.view(#"{"plate": "B"}"#)
    view.contacts = ages.sorted { $0.key.text < $1.key.text }.map { owner, age in
      OwnerContact(app: app, owner: owner, at: Sample.now - .seconds(age))
    }
    return view
  }

  /// The seconds since the contact, if there was one, and whether the owner receives the push.
  static let rows: [(Int64?, Bool)] = [
    (nil, true), (-2, false), (0, false), (300, false), (301, true), (86_400, true),
  ]

  @Test(arguments: rows)
  func `is null or the time of the owner's last contact`(age: Int64?, isSent: Bool) throws {
    let view = view(age.map { ["c": $0] } ?? [:])
    let rule = try ConditionTests.rule(Self.away)
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.pushes.count == (isSent ? 1 : 0))
    #expect(decision.reasons == (isSent ? [] : ["suppressed: if is false"]))
    #expect(decision.ended.allSatisfy { $0.owner == "c" && $0.phone == nil })
  }

  @Test func `is not the contact of another person, or in another app`() throws {
    let book = Sample.book([try ConditionTests.rule(Self.away)])
    #expect(decide(view(["d": 1]), by: book, now: Sample.now).pushes.count == 1)
    #expect(decide(view(["c": 1], app: .driver), by: book, now: Sample.now).pushes.count == 1)
  }

  @Test func `differs between the phone and its owner`() throws {
    var view = view(["c": 10])
    view.phones = [Sample.phone(), Sample.phone(2, token: Sample.driverToken)]
    view.phones[0].contactedAt = Sample.now - .seconds(10)
    let book = Sample.book([try ConditionTests.rule("contact != null && phone.contact == null")])
    let decision = decide(view, by: book, now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == [2] && decision.ended.map(\.phone) == [1])
  }

  @Test func `is decided again when a push leaves late, by the contact of then`() throws {
    let book = Sample.book([try ConditionTests.rule(Self.away)])
    for (age, reason) in [
      (nil, nil), (10, "suppressed: if became false before it was sent: \(Self.away)"),
    ] as [(Int64?, String?)] {
      var view = view([:])
      let first = decide(view, by: book, now: Sample.now)
      view.apply(first.settled([.refused(Refusal(status: 503))], now: Sample.now) { 0 })
      view.contacts =
        age.map {
          [OwnerContact(app: .customer, owner: "c", at: Sample.now + .seconds(60 - $0))]
        } ?? []
      let again = decide(view, by: book, now: Sample.now + .seconds(60))
      #expect(again.pushes.count == (reason == nil ? 1 : 0))
      #expect(again.reasons == (reason.map { [$0] } ?? []))
    }
  }

  @Test func `decides about a post and an event of a person without a phone`() throws {
    var post = try ConditionTests.rule(Self.away)
    post.name = "post"
    post.what = .post(Post(receiver: "sms", text: nil))
    var emit = Rule(
      name: "emit", app: .customer, when: .on(["driver_arrived"]), what: .emit("eta_changed"),
      expires: .ofEmit, source: "sample.yaml:1")
    emit.condition = post.condition
    var book = Sample.book([post, emit])
    book.receivers = PostReceivers(["RIDEPULSE_POST_SMS_URL", "RIDEPULSE_POST_SMS_SECRET"])
    for (ages, isSent) in [([:], true), (["c": 10], false)] as [([OwnerID: Int64], Bool)] {
      var view = view(ages)
      view.phones = []
      let decision = decide(view, by: book, now: Sample.now)
      #expect(decision.pushes.count == (isSent ? 1 : 0))
      #expect(decision.settlement.emits.count == (isSent ? 1 : 0))
      let blocked = decision.ended.filter { $0.reason?.code == .engine(.conditionFalse) }
      #expect(blocked.map(\.rule) == (isSent ? [] : ["post", "emit"]))
    }
  }

  @Test func `an event that waits is decided for the person it waited for`() throws {
    var rule = Rule(
      name: "e", app: .driver, when: .on(["ride_offer"]), what: .emit("eta_changed"),
      expires: .ofEmit, source: "sample.yaml:1")
    rule.delay(by: .seconds(60))
    rule.condition = try Condition("contact == null")
    for (owner, isEmitted) in [("d7", false), ("d", true)] as [(OwnerID, Bool)] {
      var view = Sample.view(events: [
        RideEvent(id: 1, name: "ride_offer", at: Sample.now, data: #"{"driver_id": "d7"}"#)
      ])
      let first = decide(view, by: Sample.book([rule]), now: Sample.now)
      view.apply(first.settled([], now: Sample.now) { 0 })
      view.memo = try Memo(storedText: view.memo.storedText)
      view.contacts = [OwnerContact(app: .driver, owner: owner, at: Sample.now)]
      let then = decide(view, by: Sample.book([rule]), now: Sample.now + .seconds(60))
      #expect(then.settlement.emits.count == (isEmitted ? 1 : 0), "\(owner)")
      #expect(isEmitted || then.reasons == ["suppressed: if is false"])
    }
  }

  @Test func `contacts are read for the apps of rules whose condition names them`() throws {
    for (text, apps) in [
      (Self.away, [App.customer]), ("phone.contact == null", []), ("share('a') < 0.5", []),
    ] {
      let rules = Sample.book([try ConditionTests.rule(text)]).rules
      #expect(rules.contactApps == apps, "\(text)")
    }
  }
}
