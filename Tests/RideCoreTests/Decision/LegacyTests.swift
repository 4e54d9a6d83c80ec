import Testing

@testable import Base
@testable import RideCore

@Suite("Legacy pushes") struct LegacyTests {
  private static let ride: RideID = "legacy:customer:1"
  private static let alert = #"{"aps":{"alert":"Hi","x":1.0}, "b" : [1]}"#

  private func push(
    _ payload: String = alert, expiration: UInt32? = 1_800_000_100,
    priority: PushPriority = .immediate, identifier: UInt32? = 7
  ) throws -> LegacyPush {
    LegacyPush(
      app: .customer, token: try #require(DeviceToken(Sample.customerToken)), payload: payload,
      expiration: expiration, priority: priority, identifier: identifier)
  }

  private func event(_ push: LegacyPush, id: Int64 = 1) -> RideEvent {
    RideEvent(id: id, name: RawPush.Source.legacy.event, at: Sample.now, data: push.raw.eventData)
  }

  private func decision(
    _ events: [RideEvent], phones: [Phone] = [Sample.phone(9, owner: "legacy:1")],
    memo: Memo = Memo(), book: EngineConfiguration = Sample.book(), now: Timestamp = Sample.now
  ) -> Decision {
    decide(
      RideView(rideID: Self.ride, ride: nil, events: events, phones: phones, memo: memo), by: book,
      now: now)
  }

  @Test func `one push to the phone with that token, with the frame's own words`() throws {
    let others = [Sample.phone(1, app: .driver), Sample.phone(2, token: Sample.driverToken)]
    let push = try push()
    let decision = decision([event(push)], phones: others + [Sample.phone(9, owner: "u17")])
    let planned = try #require(decision.pushes.first)
    #expect(decision.pushes.count == 1 && decision.ended.isEmpty)
    #expect(planned.address == .device(push.token) && planned.entry.phone == 9)
    #expect(planned.payload == Array(Self.alert.utf8))
    #expect(planned.headers.topic == "com.example.customer")
    #expect(planned.headers.expiration == .at(Timestamp(epochSeconds: 1_800_000_100)))
    #expect(planned.headers.priority == .immediate && planned.headers.pushType == .alert)
    #expect(planned.entry.rule == "legacy" && planned.entry.event.name == "legacy_push")
  }

  /// The frame's expiration, the push's validity in seconds, and the expiration that APNs receives.
  private static let times: [(UInt32?, Int64, PushExpiration?)] = [
    (0, 30, .neverStore), (nil, 86_400, nil), (1_800_000_001, 1, nil),
    (.max, 30 * 86_400, nil),
  ]

  @Test(arguments: times.indices) func `until when it is true`(index: Int) throws {
    let (expiration, seconds, header) = Self.times[index]
    let end = Sample.now + .seconds(seconds)
    let push = try push(expiration: expiration)
    let before = decision([event(push)], now: end - .milliseconds(1))
    #expect(before.pushes.map(\.validUntil) == [end])
    #expect(before.pushes.map(\.headers.expiration) == [header ?? .at(end)])
    let after = decision([event(push)], now: end)
    #expect(after.reasons == ["expired: valid until \(CivilTime.iso(end))"])
  }

  /// The payload, its priority and its push type.
  private static let types: [(String, PushPriority, PushType)] = [
    (#"{"aps":{"content-available":1}}"#, .powerAware, .background),
    (#"{"aps":{"content-available":1},"x":2}"#, .powerAware, .background),
    (#"{"aps":{"content-available":1}}"#, .immediate, .alert),
    (#"{"aps":{"content-available":0}}"#, .powerAware, .alert),
    (#"{"aps":{"content-available":1,"alert":"x"}}"#, .powerAware, .alert),
    (#"{"aps":{"content-available":1,"badge":0}}"#, .powerAware, .alert),
    (#"{"aps":{"content-available":1,"sound":""}}"#, .powerAware, .alert),
    (#"{"aps":1}"#, .powerAware, .alert), ("{}", .powerAware, .alert),
  ]

  @Test(arguments: types.indices) func `the push type that it had no word for`(index: Int) throws {
    let (payload, priority, type) = Self.types[index]
    let decision = decision([event(try push(payload, priority: priority))])
    #expect(decision.pushes.map(\.headers.pushType) == [type])
    #expect(decision.pushes.map(\.headers.priority) == [priority])
  }

  @Test func `each is sent, and none replaces another`() throws {
    let events = try (1...3).map { event(try push(identifier: UInt32($0)), id: Int64($0)) }
    let settlement = decision(events).settled(
      [.accepted, .unanswered(.timeout), .accepted], now: Sample.now
    ) { 0 }
    #expect(settlement.entries.map(\.status) == [.accepted, .pending, .accepted])
    #expect(Set(settlement.entries.map(\.collapseID)).count == 3)
    #expect(settlement.consumed.map(\.id) == [1, 2, 3] && !settlement.isOver)
  }

  @Test func `it is retried unchanged under the same ID, and then its ride is over`() throws {
    let first = decision([event(try push())])
    let away = PushOutcome.refused(Refusal(status: 503, reason: "ServiceUnavailable"))
    let failed = first.settled([away], now: Sample.now) { 0 }
    let now = Sample.now + .seconds(6)
    let second = decision([], memo: failed.memo, now: now)
    #expect(second.pushes.map(\.payload) == first.pushes.map(\.payload))
    #expect(second.pushes.map(\.headers) == first.pushes.map(\.headers))
    let settlement = second.settled([.accepted], now: now) { 0 }
    #expect(settlement.entries.map(\.attempts) == [2])
    #expect(settlement.isOver && settlement.memo.isEmpty && settlement.nextDue == nil)
    let late = decision([], memo: failed.memo, now: Timestamp(epochSeconds: 1_800_000_100))
    #expect(late.ended.map(\.status) == [.expired])
    #expect(
      decision([], phones: [], memo: failed.memo, now: now).reasons == [
        "suppressed: the phone is disabled"
      ])
  }

  @Test func `a problem of the phone applies to legacy pushes, too`() throws {
    var phone = Sample.phone(9)
    var problem = PhoneProblem()
    problem.refusals = 3
    problem.isQuarantined = true
    phone.problem = problem
    let event = event(try push())
    #expect(decision([event], phones: [phone]).reasons.first?.contains("in quarantine") == true)
    #expect(decision([event], phones: []).reasons == ["suppressed: the phone is disabled"])
    #expect(
      decision([event], book: Sample.book(bundleIDs: [:])).reasons == [
        "suppressed: no bundle ID for customer: set APNS_CUSTOMER_BUNDLE_ID"
      ])
  }

  @Test(arguments: [
    "{}", "[]", "", #"{"app":"customer","token":"xx","payload":"{}","priority":10}"#,
    #"{"app":"customer","token":"c1","payload":"[]","priority":10}"#,
    #"{"app":"customer","token":"c1","payload":"{}","priority":7}"#,
    #"{"app":"customer","token":"c1","payload":"{}","priority":10,"expiration":-1}"#,
  ])
  func `data written by another version`(data: String) {
    let event = RideEvent(id: 1, name: RawPush.Source.legacy.event, at: Sample.now, data: data)
    #expect(decision([event]).reasons == ["suppressed: unreadable frame"])
  }

  @Test func `4097 bytes are not sent, and an event of this name on a ride is that ride's`() throws
  {
    let large = try push(#"{"a":""# + String(repeating: "x", count: 4089) + #""}"#)
    #expect(large.payload.utf8.count == 4097)
    #expect(decision([event(large)]).ended.map(\.status) == [.rejected])
    let rule = Sample.rule(on: [RawPush.Source.legacy.event])
    let own = decide(
      Sample.view(events: [event(try push())]), by: Sample.book([rule]), now: Sample.now)
    #expect(own.pushes.map(\.entry.rule) == ["arrived"])
  }

  @Test func `the same frame has the same ID, another has another`() throws {
    let id = try push().id
    #expect(try push().id == id)
    #expect(try push(identifier: nil).id == nil)
    let others = try [
      push(identifier: 8), push(expiration: nil), push("{}"), push(expiration: 0),
    ]
    #expect(Set(others.map(\.id) + [id]).count == 5)
    #expect(RawPush.read(event(try push()), from: .legacy)?.push == (try push()).raw)
  }

  @Test func `how the ledger shows a token`() {
    #expect(LegacyVerdict(status: "pending", code: nil) == nil)
    #expect(LegacyVerdict(status: "accepted", code: nil) == .other)
    #expect(LegacyVerdict(status: "expired", code: .service("BadDeviceToken")) == .other)
    #expect(LegacyVerdict(status: "rejected", code: .service("TopicDisallowed")) == .other)
    for reason in ["BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken"] {
      #expect(LegacyVerdict(status: "rejected", code: .service(reason)) == .badToken)
    }
    #expect(LegacyVerdict(status: "suppressed", code: .engine(.phoneDisabled)) == .badToken)
    #expect(LegacyVerdict(status: "suppressed", code: .engine(.noBundleID)) == .other)
  }
}
