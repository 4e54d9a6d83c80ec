import Testing

@testable import Base
@testable import RideCore

@Suite("A decision") struct DecideTests {
  @Test func `a push has all required headers`() throws {
    let decision = decide(Sample.view(), by: Sample.book(), now: Sample.now)
    let push = try #require(decision.pushes.first)
    #expect(decision.pushes.count == 1)
    #expect(decision.ended.isEmpty)
    #expect(decision.isActive)
    #expect(push.address.text == Sample.customerToken)
    #expect(push.network == .production)
    #expect(push.headers.topic == "com.example.customer")
    #expect(push.headers.pushType == .alert)
    #expect(push.headers.priority == .immediate)
    #expect(push.headers.expiration.epochSeconds == 1_800_000_299)
    #expect(push.headers.collapseID?.text == push.headers.id.description)
    #expect(
      String(decoding: push.payload, as: UTF8.self)
        == #"{"aps":{"alert":{"body":"B-RP 1","title":"Your driver is here"}}}"#)
    #expect(push.entry.tokenSuffix == "c1c1c1")
    #expect(push.request.lane == "customer")
  }

  /// The fault, and the ledger's reason for the missing push.
  static let suppressions: [(String, RideView, EngineConfiguration, String)] = [
    (
      "the ride is gone", Sample.view(ride: nil), Sample.book(), "suppressed: ride not found"
    ),
    (
      "nobody is the app's owner",
      Sample.view(ride: Ride(id: "r1", state: "driver_arrived")), Sample.book(),
      "suppressed: the ride has no customer"
    ),
    (
      "the owner has no phone", Sample.view(phones: []), Sample.book(),
      "suppressed: no phone of the customer"
    ),
    (
      "the app has no topic", Sample.view(), Sample.book(bundleIDs: [:]),
      "suppressed: no bundle ID for customer: set APNS_CUSTOMER_BUNDLE_ID"
    ),
    (
      "the token is none", Sample.view(phones: [Sample.phone(token: "not hex")]), Sample.book(),
      "suppressed: the phone's token is not hexadecimal"
    ),
    (
      "a value is missing", Sample.view(),
      Sample.book([Sample.rule(body: "{{ride.attributes.colour}}")]),
      "suppressed: missing ride.attributes.colour"
    ),
    (
      "a text is empty", Sample.view(),
      Sample.book([Sample.rule(body: "{{ride.attributes.colour | default: ' '}}")]),
      "suppressed: empty body"
    ),
    (
      "the collapse ID is too long", Sample.view(),
      Sample.book([Sample.rule(collapse: String(repeating: "x", count: 65))]),
      "rejected: BadCollapseId: collapse gives 65 bytes, 1 to 64 are allowed"
    ),
  ]

  @Test(arguments: suppressions.indices)
  func `a push that can't be sent is closed with its reason`(index: Int) {
    let (problem, view, book, reason) = Self.suppressions[index]
    let decision = decide(view, by: book, now: Sample.now)
    #expect(decision.pushes.isEmpty, "\(problem)")
    #expect(decision.reasons == [reason], "\(problem)")
  }

  @Test func `unreadable attributes suppress only pushes that need them`() {
    var ride = Sample.ride()
    ride.attributes = #"{"plate": 1e999}"#
    let rules = [Sample.rule(), Sample.rule("plain", body: "now")]
    let decision = decide(Sample.view(ride: ride), by: Sample.book(rules), now: Sample.now)
    #expect(decision.reasons == ["suppressed: unreadable ride.attributes"])
    #expect(decision.pushes.map(\.entry.rule) == ["plain"])
  }

  @Test func `valid until the last microsecond, and expired from then on`() {
    let end = Sample.event().at + .seconds(300)
    let before = Timestamp(microseconds: end.microseconds - 1)
    #expect(decide(Sample.view(), by: Sample.book(), now: before).pushes.count == 1)
    let late = decide(Sample.view(), by: Sample.book(), now: end)
    #expect(late.pushes.isEmpty)
    #expect(late.ended.map(\.status) == [.expired])
  }

  @Test func `R20: never-store is apns-expiration 0, and true for 15 seconds`() {
    let book = Sample.book([Sample.rule(expires: .neverStore)])
    let decision = decide(Sample.view(), by: book, now: Sample.now)
    #expect(decision.pushes.map(\.headers.expiration.epochSeconds) == [0])
    let late = decide(Sample.view(), by: book, now: Sample.now + .seconds(14))
    #expect(late.ended.map(\.status) == [.expired])
  }

  @Test func `R21: 4096 bytes are sent, one more is not and names its largest field`() {
    func decision(_ length: Int) -> Decision {
      let rule = Sample.rule(body: String(repeating: "x", count: length))
      return decide(Sample.view(), by: Sample.book([rule]), now: Sample.now)
    }
    let frame = decision(1).pushes.map(\.payload.count).first.map { $0 - 1 } ?? 0
    #expect(decision(4096 - frame).pushes.map(\.payload.count) == [4096])
    #expect(
      decision(4097 - frame).reasons == [
        "rejected: PayloadTooLarge: 4097 bytes of 4096; the largest field is aps.alert.body "
          + "with \(4097 - frame + 2)"
      ])
  }

  @Test func `the event's data names another owner; other apps find theirs by attribute`() {
    let rules = [
      Sample.rule("d", app: .driver), Sample.rule("k", app: App(rawValue: "courier")),
    ]
    let phones = [
      Sample.phone(2, app: .driver, owner: "d", token: "aa"),
      Sample.phone(3, app: .driver, owner: "d9", token: "bb"),
      Sample.phone(4, app: App(rawValue: "courier"), owner: "k", token: "cc"),
    ]
    let book = Sample.book(
      rules, bundleIDs: [.driver: "driver", App(rawValue: "courier"): "courier"])
    func tokens(_ data: String) -> [String] {
      let view = Sample.view(events: [Sample.event(data: data)], phones: phones)
      return decide(view, by: book, now: Sample.now).pushes.map(\.address.text)
    }
    #expect(tokens("{}") == ["aa", "cc"])
    #expect(tokens(#"{"driver_id": "d9"}"#) == ["bb", "cc"])
    #expect(tokens(#"{"driver_id": null}"#) == ["aa", "cc"])
  }

  @Test func `each phone has its own environment and language`() {
    var alert = Alert()
    alert.title = LocalizedText([("en", Sample.text("Hello")), ("de", Sample.text("Hallo"))])
    var rule = Sample.rule()
    rule.what = .alert(alert)
    let phones = [
      Sample.phone(1, token: "aa", environment: .production, locale: "de-AT"),
      Sample.phone(2, token: "bb", locale: "fr"),
    ]
    let pushes = decide(
      Sample.view(phones: phones), by: Sample.book([rule], environment: .sandbox), now: Sample.now
    ).pushes
    #expect(pushes.map(\.network) == [.production, .sandbox])
    let bodies = pushes.map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(bodies.map { $0.contains("Hallo") } == [true, false])
  }

  @Test func `apns-id is stable, and another for each event, rule, phone and ride`() {
    func id(
      _ event: Int64 = 1, rule: String = "arrived", token: String = "aa", ride: RideID = "r1"
    ) -> PushID? {
      var view = Sample.view(
        events: [Sample.event(event)], phones: [Sample.phone(token: token)])
      view.rideID = ride
      return decide(view, by: Sample.book([Sample.rule(rule)]), now: Sample.now).pushes.first?
        .headers.id
    }
    #expect(id() == id())
    let ids = [id(), id(2), id(rule: "other"), id(token: "bb"), id(ride: "r2")]
    #expect(Set(ids).count == ids.count)
  }

  @Test func `events in their order, rules in that of the files; the same again for the same view`()
  {
    let rules = [
      Sample.rule("a"), Sample.rule("b", on: ["eta_changed", "driver_arrived"]),
    ]
    let view = Sample.view(events: [Sample.event(1, "eta_changed"), Sample.event(2)])
    let decision = decide(view, by: Sample.book(rules), now: Sample.now)
    #expect(decision.pushes.map { "\($0.entry.event.id)\($0.entry.rule)" } == ["1b", "2a", "2b"])
    let again = decide(view, by: Sample.book(rules), now: Sample.now)
    #expect(again.pushes == decision.pushes)
    #expect(again.ended == decision.ended)
  }
}
