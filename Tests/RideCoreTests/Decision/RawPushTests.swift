import Testing

@testable import Base
@testable import RideCore

@Suite("Raw pushes as decisions") struct RawPushTests {
  private static let ride: RideID = "push:customer:1"
  private static let alert = #"{"aps":{"alert":"Hi","x":1.0}, "b" : [1]}"#
  private static let unavailable = PushOutcome.refused(
    Refusal(status: 503, reason: "ServiceUnavailable"))

  private func push(
    _ payload: String = alert, _ type: PushType = .alert, priority: PushPriority? = nil,
    token: String = Sample.customerToken
  ) throws -> RawPush {
    RawPush(
      .push, app: .customer, target: .device(try #require(DeviceToken(token))), payload: payload,
      pushType: type, priority: priority ?? type.rules.defaultPriority,
      expiration: 1_800_000_600)
  }

  private func broadcast(_ payload: String) throws -> RawPush {
    RawPush(
      .broadcast, app: .customer, target: .channel(try #require(ChannelID("dHN0+/=="))),
      payload: payload, pushType: .liveactivity, priority: .unobtrusive,
      expiration: 1_800_000_600)
  }

  private func event(_ push: RawPush, id: Int64 = 1) -> RideEvent {
    RideEvent(id: id, name: push.source.event, at: Sample.now, data: push.eventData)
  }

  private func decision(
    _ events: [RideEvent], ride: RideID = ride, phones: [Phone] = [], memo: Memo = Memo(),
    now: Timestamp = Sample.now
  ) -> Decision {
    decide(
      RideView(rideID: ride, ride: nil, events: events, phones: phones, memo: memo),
      by: Sample.book(), now: now)
  }

  @Test func `R106: a push needs no phone, and 410 invalidates none`() throws {
    let push = try push()
    let decision = decision([event(push)])
    let planned = try #require(decision.pushes.first)
    #expect(decision.pushes.count == 1 && decision.ended.isEmpty)
    #expect(planned.address == .device(try #require(DeviceToken(Sample.customerToken))))
    #expect(planned.payload == Array(Self.alert.utf8))
    #expect(planned.headers.topic == "com.example.customer")
    #expect(planned.headers.expiration == .at(Timestamp(epochSeconds: 1_800_000_600)))
    #expect(planned.headers.priority == .immediate && planned.network == .production)
    #expect(planned.entry.phone == nil && planned.entry.tokenSuffix == "c1c1c1")
    #expect(planned.entry.rule == "push" && planned.entry.event.name == "raw_push")
    let gone = Refusal(status: 410, reason: "Unregistered", timestamp: Sample.now)
    let settlement = decision.settled([.refused(gone)], now: Sample.now) { 0 }
    #expect(settlement.entries.map(\.status) == [.rejected])
    #expect(settlement.invalidations.isEmpty && settlement.observations.isEmpty)
    #expect(settlement.consumed.map(\.id) == [1] && settlement.isOver)
  }

  @Test func `R106: a registered phone keeps its quarantine and is disabled by 410`() throws {
    var push = try push()
    push.isRegistered = true
    let sent = decision([event(push)], phones: [Sample.phone(9)])
    #expect(sent.pushes.map(\.entry.phone) == [9])
    let gone = Refusal(status: 410, reason: "Unregistered", timestamp: Sample.now)
    let settlement = sent.settled([.refused(gone)], now: Sample.now) { 0 }
    #expect(settlement.invalidations.map(\.id) == [9])
    #expect(decision([event(push)]).reasons == ["suppressed: the phone is disabled"])
    var phone = Sample.phone(9)
    var problem = PhoneProblem()
    problem.refusals = 3
    problem.isQuarantined = true
    phone.problem = problem
    let reasons = decision([event(push)], phones: [phone]).reasons
    #expect(reasons.first?.contains("in quarantine") == true, "\(reasons)")
  }

  @Test func `R106: an answer from another environment than the phone's is not about the phone`()
    throws
  {
    var push = try push()
    push.environment = .sandbox
    push.isRegistered = true
    let bad = PushOutcome.refused(Refusal(status: 400, reason: "BadDeviceToken"))
    let phones: [(APNsEnvironment?, observations: Int)] = [
      (.production, 0), (nil, 0), (.sandbox, 1),
    ]
    for (known, observed) in phones {
      let sent = decision([event(push)], phones: [Sample.phone(9, environment: known)])
      #expect(sent.pushes.map(\.network) == [.sandbox])
      #expect(sent.pushes.map(\.entry.phone) == [9])
      let settlement = sent.settled([bad], now: Sample.now) { 0 }
      #expect(settlement.entries.map(\.status) == [.rejected], "no probe")
      #expect(settlement.observations.count == observed, "\(String(describing: known))")
    }
  }

  /// Each push type with its topic, default priority, and a payload that it permits.
  private static let types: [(PushType, String, Int, String)] = [
    (.alert, "", 10, "{}"),
    (.background, "", 5, #"{"aps":{"content-available":1},"x":{}}"#),
    (.liveactivity, ".push-type.liveactivity", 10, #"{"aps":{"event":"update"}}"#),
    (.voip, ".voip", 10, #"{"call":1}"#),
    (.location, ".location-query", 10, "{}"),
    (.complication, ".complication", 10, "{}"),
    (.fileprovider, ".pushkit.fileprovider", 10, "{}"),
    (.mdm, "", 10, #"{"mdm":"magic"}"#),
    (.pushtotalk, ".voip-ptt", 10, "{}"),
    (.widgets, ".push-type.widgets", 10, #"{"aps":{"content-changed":true}}"#),
    (.controls, ".push-type.controls", 10, #"{"aps":{"content-changed":true}}"#),
  ]

  @Test func `R106: each push type has its topic and its priority`() throws {
    #expect(Self.types.map(\.0) == PushType.allCases)
    for (type, suffix, priority, payload) in Self.types {
      let decision = decision([event(try push(payload, type))])
      #expect(decision.reasons == [], "\(type)")
      #expect(decision.pushes.map(\.headers.topic) == ["com.example.customer" + suffix])
      #expect(decision.pushes.map(\.headers.priority.rawValue) == [priority], "\(type)")
      #expect(decision.pushes.map(\.headers.pushType) == [type])
    }
  }

  @Test func `R128: a call or a talk without an expiration is never stored`() throws {
    for type in PushType.allCases {
      let payload = Self.types.first { $0.0 == type }?.3 ?? ""
      var push = try push(payload, type)
      push.expiration = nil
      let planned = try #require(decision([event(push)]).pushes.first)
      let isStored = type != .voip && type != .pushtotalk
      #expect((planned.headers.expiration == .neverStore) == !isStored, "\(type)")
      #expect(planned.request.validUntil == Sample.now + .seconds(isStored ? 86_400 : 30))
      push.expiration = 1_800_000_600
      let stated = try #require(decision([event(push)]).pushes.first)
      #expect(stated.headers.expiration == .at(Timestamp(epochSeconds: 1_800_000_600)))
    }
  }

  /// What Apple would refuse: the type, priority and payload, and a part of the reason.
  private static let problems: [(PushType, PushPriority, String, String)] = [
    (
      .background, .immediate, #"{"aps":{"content-available":1}}"#, "priority is 10; APNs accepts 5"
    ),
    (.background, .powerAware, #"{"aps":{}}"#, "lacks aps.content-available"),
    (.background, .powerAware, #"{"aps":{"content-available":true}}"#, "lacks aps.content-ava"),
    (
      .background, .powerAware, #"{"aps":{"content-available":1,"badge":0,"alert":"x"}}"#,
      "payload has aps.alert"
    ),
    (.liveactivity, .unobtrusive, #"{"aps":{"event":"end"}}"#, "accepts 10 or 5"),
    (.liveactivity, .immediate, #"{"aps":{"event":"stop"}}"#, "it is start, update, end"),
    (.widgets, .immediate, "{}", "lacks aps.content-changed"),
    (.controls, .immediate, #"{"aps":{"content-changed":1}}"#, "lacks aps.content-changed"),
    (.alert, .immediate, "[]", "not a JSON object"),
    (.voip, .immediate, "{", "payload can't be read at line 1, column 2: it ends too early"),
    (
      .alert, .immediate, #"{"a":1e999}"#, "column 6: a number that exceeds the range of a double"
    ),
    (.alert, .immediate, #"{"a":"\ud83d"}"#, "at line 1, column 13: half a surrogate pair"),
    (
      .alert, .immediate,
      #"{"a":"# + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}",
      "objects and arrays are nested more than 512 deep"
    ),
  ]

  @Test(arguments: problems.indices)
  func `R106: what Apple refuses is not sent`(index: Int) throws {
    let (type, priority, payload, text) = Self.problems[index]
    let closed = decision([event(try push(payload, type, priority: priority))]).ended
    #expect(closed.map(\.status) == [.rejected])
    #expect(closed.first?.reason?.code == .engine(.invalidRequest))
    #expect(closed.first?.reason?.text.contains(text) == true, "\(closed)")
  }

  @Test func `R106: the size limit is that of the push type`() throws {
    func payload(_ size: Int) -> String {
      #"{"a":""# + String(repeating: "x", count: size - 8) + #""}"#
    }
    for (type, limit) in [(PushType.alert, 4096), (.voip, 5120)] {
      #expect(decision([event(try push(payload(limit), type))]).pushes.count == 1)
      let large = decision([event(try push(payload(limit + 1), type))]).ended
      #expect(large.map { $0.reason?.code } == [.service("PayloadTooLarge")])
    }
  }

  @Test func `R106: a broadcast goes to its channel, stored only if the channel stores`() throws {
    let ride: RideID = "broadcast:customer:1"
    var push = try broadcast(#"{"aps":{"event":"update"}}"#)
    let planned = try #require(decision([event(push)], ride: ride).pushes.first)
    #expect(planned.address.text == "dHN0+/==" && planned.address.pathEnd == "com.example.customer")
    #expect(planned.headers.expiration == .at(Timestamp(epochSeconds: 1_800_000_600)))
    #expect(planned.headers.priority == .unobtrusive && planned.headers.collapseID == nil)
    #expect(planned.entry.rule == "broadcast" && planned.entry.event.name == "raw_broadcast")
    push.isStored = false
    push.environment = .sandbox
    let unstored = try #require(decision([event(push)], ride: ride).pushes.first)
    #expect(unstored.headers.expiration == .neverStore && unstored.network == .sandbox)
    #expect(unstored.validUntil == planned.validUntil)
    let start = decision([event(try broadcast(#"{"aps":{"event":"start"}}"#))], ride: ride)
    #expect(start.reasons.first?.contains("update, end in a broadcast") == true)
  }

  @Test func `R106: pushes to one address leave in order, also after a retry and without a phone`()
    throws
  {
    let events = try (1...3).map { event(try push(), id: Int64($0)) }
    let first = decision(events)
    #expect(Set(first.pushes.map(\.entry.recipient)) == [.rawAddress])
    let failed = first.settled(
      [Self.unavailable, .unsent(.queuedBehind), .unsent(.queuedBehind)], now: Sample.now
    ) { 0 }
    #expect(failed.entries.map(\.status) == [.pending, .pending, .pending])
    // A new push waits for the older ones; once they are due, all leave in order.
    let fourth = event(try push(), id: 4)
    let early = decision([fourth], memo: failed.memo, now: Sample.now + .seconds(1))
    #expect(early.pushes.map(\.entry.event.id) == [1, 2, 3, 4])
    let later = decision([], memo: failed.memo, now: Sample.now + .seconds(9))
    #expect(later.pushes.map(\.entry.event.id) == [1, 2, 3])
    #expect(later.pushes.map(\.payload) == first.pushes.map(\.payload))
    #expect(later.pushes.map(\.headers) == first.pushes.map(\.headers))
    #expect(
      later.settled([.accepted, .accepted, .accepted], now: Sample.now) { 0 }.isOver)
  }

  @Test func `R106: a later push with the same collapse ID takes the place of one that waits`()
    throws
  {
    let events = try (1...2).map { id in
      var push = try push()
      push.collapseID = CollapseID("order")
      return event(push, id: Int64(id))
    }
    let decision = decision(events)
    #expect(decision.pushes.map(\.entry.event.id) == [2])
    #expect(decision.pushes.map(\.headers.collapseID) == [CollapseID("order")])
    #expect(decision.ended.map(\.status) == [.superseded])
  }

  @Test func `R106: its validity ends, and what may have arrived is uncertain`() throws {
    let end = Timestamp(epochSeconds: 1_800_000_600)
    #expect(
      decision([event(try push())], now: end).reasons
        == ["expired: valid until \(CivilTime.iso(end))"])
    let lost = decision([event(try push())]).settled([.unanswered(.timeout)], now: Sample.now) { 0 }
    #expect(decision([], memo: lost.memo, now: end).ended.map(\.status) == [.uncertain])
  }

  @Test(arguments: [
    "{}", "[]", #"{"app":"customer","token":"xx","payload":"{}","push_type":"alert"}"#,
    #"{"app":"customer","token":"c1","payload":"{}","push_type":"hologram"}"#,
    #"{"app":"customer","channel":"YQ==","payload":"{}","push_type":"alert"}"#,
    #"{"app":"customer","token":"c1","payload":"{}","push_type":"alert","priority":7}"#,
  ])
  func `R106: data of another version is reported`(data: String) {
    let event = RideEvent(id: 1, name: "raw_push", at: Sample.now, data: data)
    #expect(decision([event]).reasons == ["suppressed: unreadable push"])
  }

  @Test func `R106: an event of this name in a ride of the service is reported and not sent`()
    throws
  {
    let own = decide(
      Sample.view(events: [event(try push())]), by: Sample.book(), now: Sample.now)
    #expect(own.pushes.isEmpty)
    #expect(own.ended.map { $0.reason?.code } == [.engine(.unknownEvent)])
  }
}
