import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// The zone that a phone has registered: quiet hours and times by its own clock.
@Suite("The phone's zone") struct PhoneZoneTests {
  /// 23:30 in Vienna, 07:30 in Tokyo.
  private static let now = Timestamp(epochSeconds: 1_795_300_200)

  private func phone(_ id: Int64, _ zone: String?, _ locale: String? = nil) -> Phone {
    var phone = Sample.phone(id, token: String(repeating: "a\(id)", count: 32), locale: locale)
    phone.timeZone = zone
    return phone
  }

  private func decision(
    _ rule: Rule, _ phones: [Phone], ride: String? = "Europe/Vienna", defaultZone: String? = nil
  ) -> Decision {
    let rules = RuleSet(
      activeStates: ["driver_arrived"], finalStates: ["ride_completed"], events: ["eta_changed"],
      rules: [rule],
      defaults: RuleDefaults(zone: defaultZone.flatMap(ZoneTimes.init(identifier:))))
    var book = EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example.customer"])
    book.receivers = PostReceivers(["RIDEPULSE_POST_SMS_URL", "RIDEPULSE_POST_SMS_SECRET"])
    let event = RideEvent(
      id: 1, name: "eta_changed", at: Self.now, data: #"{"customer_id": "c"}"#)
    var row = Sample.ride()
    row.timeZone = ride ?? "UTC"
    let view = RideView(
      rideID: ride == nil ? RideID(ofPerson: "c", app: .customer) : row.id,
      ride: ride == nil ? nil : row, events: [event], phones: phones)
    return decide(view, by: book, now: Self.now)
  }

  private func rule(_ body: String = "x", quiet zone: QuietHours.Zone? = nil) throws -> Rule {
    var rule = Sample.rule(on: ["eta_changed"], body: body, expires: .after(.seconds(43_200)))
    guard let zone else { return rule }
    rule.limits.quiet = QuietHours(
      from: try #require(QuietHours.TimeOfDay(text: "22:00")),
      to: try #require(QuietHours.TimeOfDay(text: "07:00")), zone: zone, then: .hold)
    return rule
  }

  private func bodies(_ decision: Decision) -> [String] {
    decision.pushes.map { push in
      let body = JSONValue(json: push.payload)?.value(at: ["aps", "alert", "body"])
      return body?.text ?? "no body"
    }
  }

  /// A traveller in Tokyo is awake while the phone at home sleeps.
  @Test func `two phones of a person are quiet each by its own night`() throws {
    let phones = [phone(1, "Europe/Vienna"), phone(2, "Asia/Tokyo")]
    let own = decision(try rule(quiet: .phone), phones)
    #expect(own.pushes.map(\.entry.phone) == [2])
    #expect(own.deferred.map(\.entry.phone) == [1])
    #expect(
      own.deferred.map(\.entry.reason?.text)
        == ["quiet hours 22:00 to 07:00 Europe/Vienna, held until 2026-11-22T06:00:00Z"])
    let ofRide = decision(try rule(quiet: .ride), phones)
    #expect(ofRide.pushes.isEmpty && ofRide.deferred.count == 2)
  }

  @Test func `a held push leaves by the zone that the phone has then`() throws {
    var view = Sample.view(
      events: [RideEvent(id: 1, name: "eta_changed", at: Self.now)],
      phones: [phone(1, "Europe/Vienna")])
    let book = Sample.book([try rule(quiet: .phone)])
    view.apply(decide(view, by: book, now: Self.now).settled([], now: Self.now) { 0 })
    // The person has flown to London, where it is 06:30.
    view.phones = [phone(1, "Europe/London")]
    let morning = Self.now + .seconds(8 * 3600)
    let kept = decide(view, by: book, now: morning)
    #expect(kept.pushes.isEmpty)
    #expect(kept.deferred.map(\.entry.reason?.text).first??.contains("Europe/London") == true)
  }

  private static let zones: [(phone: String?, ride: String?, fallback: String?, shown: String)] = [
    ("Asia/Tokyo", "Europe/Vienna", nil, "7:30 AM"),
    (nil, "Europe/Vienna", "America/New_York", "11:30 PM"),
    ("Mars/Base", "Europe/Vienna", nil, "11:30 PM"),
    (nil, "Mars/Base", "America/New_York", "5:30 PM"),
    ("Asia/Tokyo", nil, "America/New_York", "7:30 AM"),
    (nil, nil, "America/New_York", "5:30 PM"),
    (nil, nil, nil, "10:30 PM"),
  ]

  @Test(arguments: zones.indices)
  func `time: phone is the phone's, then the ride's, then the default`(index: Int) throws {
    let row = Self.zones[index]
    let decision = decision(
      try rule("{{event.at | time: phone}}"), [phone(1, row.phone, "en-US")], ride: row.ride,
      defaultZone: row.fallback)
    #expect(bodies(decision).map { $0.replacing("\u{202f}", with: " ") } == [row.shown])
  }

  /// Without the zone in the cache of payloads, the second phone would get the text of the first.
  @Test func `phones that share a locale have texts of their own zones`() throws {
    let phones = [phone(1, "Europe/Vienna", "de"), phone(2, "Asia/Tokyo", "de")]
    let shown = decision(try rule("{{event.at | time: phone}}"), phones)
    #expect(bodies(shown) == ["23:30", "07:30"])
    let ofRide = decision(try rule("{{event.at | time}}"), phones)
    #expect(bodies(ofRide) == ["23:30", "23:30"])
    let personal = decision(try rule("{{event.at | time}}"), phones, ride: nil)
    #expect(bodies(personal) == ["23:30", "07:30"])
  }

  @Test func `the ledger names an unknown zone`() throws {
    let phones = [phone(1, "Mars/Base")]
    let sent = decision(try rule("{{event.at | time: phone}}"), phones)
    #expect(
      sent.pushes.map(\.acceptedReason?.text)
        == ["unknown time zone \"Mars/Base\": times are in Europe/Vienna"])
    let quiet = decision(try rule(quiet: .phone), phones)
    let reason = quiet.deferred.first?.entry.reason?.text ?? ""
    let why = "Europe/Vienna, because the phone's zone \"Mars/Base\" is unknown"
    #expect(reason.contains(why), "\(reason)")
    // A text that reads the ride's clock has no doubt about the phone's.
    #expect(decision(try rule("{{event.at | time}}"), phones).pushes.map(\.acceptedReason) == [nil])
  }

  @Test func `a post takes the zone of the newest phone`() throws {
    let post = Rule(
      name: "sms", app: .customer, when: .on(["eta_changed"]),
      what: .post(
        Post(receiver: "sms", text: LocalizedText(Sample.text("{{event.at | time: phone}}")))),
      expires: .after(.seconds(60)), source: "a.yaml:1")
    let decision = decision(post, [phone(1, "Europe/Vienna", "de"), phone(2, "Asia/Tokyo", "de")])
    #expect(decision.pushes.map { JSONValue(json: $0.payload)?["text"] } == [.string("07:30")])
  }
}
