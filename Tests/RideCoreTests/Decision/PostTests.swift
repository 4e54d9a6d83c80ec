import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// `post` as what a rule does.
@Suite("post") struct PostTests {
  private static let set: Set<String> = ["RIDEPULSE_POST_SMS_URL", "RIDEPULSE_POST_SMS_SECRET"]

  private static func rule(
    _ name: String = "p", to receiver: String = "sms", text: LocalizedText? = nil,
    expires: Int64 = 300, wait: Int64? = nil, states: Set<String>? = nil
  ) -> Rule {
    var rule = Rule(
      name: name, app: .customer, when: .on(["driver_arrived"], while: states),
      what: .post(Post(receiver: receiver, text: text)),
      data: ["plate": .value(Sample.text("{{ride.attributes.plate}}"))],
      expires: .after(.seconds(expires)), source: "sample.yaml:1")
    if let wait { rule.delay(by: .seconds(wait)) }
    return rule
  }

  private static func decided(
    _ view: RideView, _ rules: [Rule], set: Set<String> = set, at seconds: Int64 = 0
  ) -> Decision {
    var book = Sample.book(rules)
    book.receivers = PostReceivers(set)
    return decide(view, by: book, now: Sample.now + .seconds(seconds))
  }

  private static func body(_ push: PlannedPush?) -> JSONValue? {
    push.flatMap { JSONValue(json: $0.payload) }
  }

  // MARK: whom it addresses

  struct Person: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var phones: [Phone]
    var locale: JSONValue
    var text: String
  }

  static let people: [Person] = [
    Person(testDescription: "without a phone", phones: [], locale: .null, text: "Here"),
    Person(
      testDescription: "with two phones, by the newest one",
      phones: [
        Sample.phone(7, locale: "de"),
        Sample.phone(3, token: Sample.driverToken, locale: "en"),
      ], locale: .string("de"), text: "Da"),
    Person(
      testDescription: "not by the phone of another person",
      phones: [Sample.phone(7, owner: "x", locale: "de")], locale: .null, text: "Here"),
  ]

  @Test(arguments: people) func `once a person, in the person's language`(_ row: Person) throws {
    let text = try #require(
      LocalizedText([("en", Sample.text("Here")), ("de", Sample.text("Da"))]))
    let decision = Self.decided(Sample.view(phones: row.phones), [Self.rule(text: text)])
    #expect(decision.pushes.count == 1 && decision.ended.isEmpty)
    let entry = try #require(decision.pushes.first?.entry)
    #expect(entry.kind == .post && entry.owner == "c" && entry.phone == nil)
    #expect(entry.typeName == "post" && entry.priority == nil && entry.expiration == nil)
    let expected: JSONValue = .object([
      "id": .string(entry.id.description), "event": .string("driver_arrived"),
      "ride_id": .string("r1"), "rule": .string("p"), "owner_id": .string("c"),
      "app": .string("customer"), "locale": row.locale, "text": .string(row.text),
      "data": .object(["plate": .string("B-RP 1")]),
    ])
    #expect(Self.body(decision.pushes.first) == expected)
  }

  @Test func `each participant gets one, under an ID of its own that stays the same`() {
    var view = Sample.view(phones: [])
    view.ride?.participants = ["a", "b"].map { Participant(app: .customer, ownerID: $0) }
    let first = Self.decided(view, [Self.rule()]).pushes.map(\.entry)
    #expect(first.map(\.owner) == ["c", "a", "b"])
    #expect(Set(first.map(\.id)).count == 3)
    view.ride?.participants.reverse()
    let second = Self.decided(view, [Self.rule()]).pushes.map(\.entry)
    #expect(Set(second.map(\.id)) == Set(first.map(\.id)))
  }

  @Test func `nobody in the ride is recorded`() {
    var view = Sample.view(phones: [])
    view.ride?.customerID = nil
    let decision = Self.decided(view, [Self.rule()])
    #expect(decision.pushes.isEmpty)
    #expect(decision.reasons == ["suppressed: the ride has no customer"])
  }

  // MARK: receivers

  @Test(
    arguments: [
      ([], "RIDEPULSE_POST_SMS_URL"), (["RIDEPULSE_POST_SMS_URL"], "RIDEPULSE_POST_SMS_SECRET"),
    ] as [(Set<String>, String)])
  func `without URL or secret it is suppressed, with the variable`(
    _ variables: Set<String>, _ missing: String
  ) {
    let decision = Self.decided(Sample.view(), [Self.rule()], set: variables)
    #expect(decision.reasons == ["suppressed: no receiver sms: set \(missing)"])
    #expect(decision.ended.map(\.reason?.code) == [.engine(.noReceiver)])
  }

  @Test func `a name with - has _ in its variables`() {
    #expect(PostReceivers.variable(of: "back-office", "URL") == "RIDEPULSE_POST_BACK_OFFICE_URL")
    #expect(PostReceivers.all.missing("any") == nil)
  }

  @Test func `posts of one person to one receiver leave in order, to two receivers together`() {
    let same = Self.decided(Sample.view(phones: []), [Self.rule("p"), Self.rule("q")]).pushes
    #expect(Set(same.map(\.entry.recipient)).count == 1)
    let variables = Self.set.union(["RIDEPULSE_POST_MAIL_URL", "RIDEPULSE_POST_MAIL_SECRET"])
    let other = Self.decided(
      Sample.view(phones: []), [Self.rule("p"), Self.rule("q", to: "mail")], set: variables
    ).pushes
    #expect(Set(other.map(\.entry.recipient)).count == 2)
    #expect(Set(other.map(\.lane)).count == 2 && other.allSatisfy { $0.lane.isOfPosts })
  }

  // MARK: outcomes

  struct Answer: Sendable {
    var outcome: PushOutcome
    var status: LedgerEntry.Status
    var code: LedgerReason.Code?
    /// Seconds until the next attempt at the earliest.
    var again: Int64?
  }

  static let answers: [Answer] = [
    Answer(outcome: .init(postStatus: 200, retryAfter: nil), status: .accepted),
    Answer(outcome: .init(postStatus: 204, retryAfter: nil), status: .accepted),
    Answer(outcome: .init(postStatus: 301, retryAfter: nil), status: .rejected, code: .status(301)),
    Answer(outcome: .init(postStatus: 400, retryAfter: nil), status: .rejected, code: .status(400)),
    Answer(
      outcome: .init(postStatus: 410, retryAfter: nil), status: .rejected,
      code: .engine(.receiverGone)),
    Answer(
      outcome: .init(postStatus: 408, retryAfter: nil), status: .pending, code: .status(408),
      again: 2),
    Answer(
      outcome: .init(postStatus: 425, retryAfter: nil), status: .pending, code: .status(425),
      again: 2),
    Answer(
      outcome: .init(postStatus: 429, retryAfter: .seconds(60)), status: .pending,
      code: .status(429), again: 60),
    Answer(
      outcome: .init(postStatus: 503, retryAfter: .seconds(600)), status: .expired,
      code: .status(503)),
    Answer(
      outcome: .unanswered(.timeout), status: .pending, code: .engine(.noAnswer), again: 0),
    Answer(
      outcome: .unsent(.receiverOff("off")), status: .rejected, code: .engine(.receiverGone)),
  ]

  @Test(arguments: answers) func `what an answer means`(_ row: Answer) throws {
    let decision = Self.decided(Sample.view(phones: []), [Self.rule()])
    let settlement = decision.settled([row.outcome], now: Sample.now) { 0 }
    let entry = try #require(settlement.entries.first)
    #expect(entry.status == row.status && entry.reason?.code == row.code)
    #expect(settlement.invalidations.isEmpty && settlement.observations.isEmpty)
    if let again = row.again {
      let due = try #require(settlement.nextDue)
      #expect(due >= Sample.now + .seconds(again) && due < Sample.now + .seconds(again + 2))
    }
  }

  @Test(
    arguments: [
      .unsent(.paused(for: .seconds(5), by: .refused)),
      .unsent(.paused(for: .seconds(5), by: .unreachable)), .unsent(.queuedTooLong),
    ] as [PushOutcome])
  func `its reason names the receiver, and not APNs`(_ outcome: PushOutcome) throws {
    let decision = Self.decided(Sample.view(phones: []), [Self.rule()])
    let settlement = decision.settled([outcome], now: Sample.now) { 0 }
    let entry = try #require(settlement.entries.first)
    #expect(entry.status == .pending)
    #expect(entry.reason?.text.contains("receiver") == true)
    #expect(entry.reason?.code == Verdict(outcome).reason?.code)
  }

  @Test func `it goes again with the same ID, and its memo survives its JSON`() throws {
    var view = Sample.view(phones: [])
    let first = Self.decided(view, [Self.rule()])
    view.apply(first.settled([.unanswered(.timeout)], now: Sample.now) { 0.5 })
    #expect(try Memo(storedText: view.memo.storedText) == view.memo)
    let second = Self.decided(view, [Self.rule()], at: 60)
    #expect(second.pushes.map(\.entry.id) == first.pushes.map(\.entry.id))
    #expect(second.pushes.map(\.entry.attempts) == [1])
    let late = Self.decided(view, [Self.rule()], at: 400)
    #expect(late.pushes.isEmpty && late.ended.map(\.status) == [.uncertain])
  }

  // MARK: what keeps it

  @Test func `with a later time it leaves later, and only if the states hold then`() {
    let rules = [Self.rule(wait: 120, states: ["driver_arrived"])]
    var view = Sample.view(phones: [])
    let first = Self.decided(view, rules)
    #expect(first.pushes.isEmpty)
    view.apply(first.settled([], now: Sample.now) { 0.5 })
    #expect(Self.decided(view, rules, at: 119).pushes.count == 1)
    view.ride?.state = "requested"
    let decision = Self.decided(view, rules, at: 119)
    #expect(decision.pushes.isEmpty)
    #expect(decision.reasons == ["suppressed: the ride is requested, not in while"])
  }

  @Test func `a person who turned the topic off gets none`() {
    var rule = Self.rule()
    rule.limits.topic = "arrival"
    var view = Sample.view(phones: [])
    view.optOuts = [OptOut(app: .customer, owner: "c", topic: "arrival")]
    #expect(
      Self.decided(view, [rule]).reasons == ["suppressed: the owner has turned arrival off"])
  }

  @Test func `quiet hours hold or drop one, by the zone of the person's phone`() throws {
    var view = Sample.view(phones: [Sample.phone()])
    view.phones[0].timeZone = "Asia/Tokyo"
    var rule = Self.rule(expires: 4 * 3600)
    // 17:00 in Tokyo, 08:00 in UTC.
    let from = try #require(QuietHours.TimeOfDay(text: "16:00"))
    let to = try #require(QuietHours.TimeOfDay(text: "18:00"))
    rule.limits.quiet = QuietHours(from: from, to: to, zone: .phone, then: .hold)
    let held = Self.decided(view, [rule])
    #expect(held.pushes.isEmpty)
    #expect(held.deferred.map(\.wait) == [.quiet(until: Sample.now + .seconds(3600))])
    rule.limits.quiet?.action = .drop
    let dropped = Self.decided(view, [rule])
    #expect(dropped.pushes.isEmpty)
    #expect(dropped.ended.map(\.reason?.code) == [.engine(.quietHours)])
    view.phones[0].timeZone = nil
    #expect(Self.decided(view, [rule]).pushes.count == 1)
  }

  @Test(arguments: [true, false])
  func `one for a participant goes again only while they take part`(stays: Bool) {
    var view = Sample.view(phones: [])
    view.ride?.customerID = nil
    view.ride?.participants = [Participant(app: .customer, ownerID: "a")]
    let first = Self.decided(view, [Self.rule()])
    view.apply(first.settled([.init(postStatus: 503, retryAfter: nil)], now: Sample.now) { 0 })
    if !stays { view.ride?.participants = [] }
    let second = Self.decided(view, [Self.rule()], at: 60)
    #expect(second.pushes.count == (stays ? 1 : 0))
    #expect(
      second.reasons
        == (stays ? [] : ["suppressed: the person is no customer of the ride any more"]))
  }

  @Test func `one that waits ends if its rule sends something else by now`() {
    var view = Sample.view(phones: [])
    let first = Self.decided(view, [Self.rule()])
    view.apply(first.settled([.init(postStatus: 503, retryAfter: nil)], now: Sample.now) { 0.5 })
    let decision = Self.decided(view, [Sample.rule("p")], at: 60)
    #expect(decision.reasons == ["suppressed: the rule is gone"])
  }

  @Test func `a body above the limit is rejected`() {
    var view = Sample.view(phones: [])
    view.ride?.attributes = #"{"plate": "\#(String(repeating: "x", count: 70_000))"}"#
    let decision = Self.decided(view, [Self.rule()])
    #expect(decision.pushes.isEmpty && decision.ended.map(\.status) == [.rejected])
    #expect(decision.reasons.first?.contains("at most 65536 are sent") == true)
  }
}
