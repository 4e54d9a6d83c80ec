import Testing

@testable import Base
@testable import RideCore

/// Tests of raw pushes that must not arrive twice: starts of Live Activities, and calls.
@Suite("Raw pushes that must not repeat") struct UnrepeatablePushTests {
  private static let ride: RideID = "push:customer:1"
  private static let start = #"{"aps":{"event":"start","content-state":{}}}"#

  private func event(
    _ type: PushType, _ payload: String, id: Int64 = 1, isRegistered: Bool = false
  ) throws -> RideEvent {
    var push = RawPush(
      .push, app: .customer,
      target: .device(try #require(DeviceToken(Sample.customerToken))), payload: payload,
      pushType: type, priority: .immediate, expiration: 1_800_000_600)
    push.isRegistered = isRegistered
    return RideEvent(id: id, name: push.source.event, at: Sample.now, data: push.eventData)
  }

  private func decision(
    _ events: [RideEvent], phones: [Phone] = [], memo: Memo = Memo(), now: Timestamp = Sample.now
  ) -> Decision {
    var view = RideView(rideID: Self.ride, ride: nil, events: events, phones: phones, memo: memo)
    view.isTakenOver = true
    return decide(view, by: Sample.book(), now: now)
  }

  /// Push type, payload, and whether it must not repeat.
  private static let pushes: [(PushType, String, Bool)] = [
    (.voip, #"{"call":1}"#, true), (.liveactivity, start, true),
    (.liveactivity, #"{"aps":{"event":"update"}}"#, false),
    (.liveactivity, #"{"aps":{"event":"end"}}"#, false), (.alert, "{}", false),
    (.alert, start, false), (.pushtotalk, "{}", false), (.location, "{}", false),
  ]

  @Test(arguments: pushes.indices)
  func `R106: a start or a call without an answer is uncertain, and is not sent again`(
    index: Int
  ) throws {
    let (type, payload, isOnce) = Self.pushes[index]
    let decision = decision([try event(type, payload)])
    let push = try #require(decision.pushes.first)
    for outcome in [PushOutcome.unanswered(.timeout), .unanswered(.connectionLost("EOF"))] {
      let settlement = decision.settled([outcome], now: Sample.now) { 0 }
      #expect(settlement.entries.map(\.status) == [isOnce ? .uncertain : .pending])
      #expect(settlement.isOver == isOnce && push.isSettled(by: outcome) == isOnce)
    }
    // What provably did not arrive goes again.
    for outcome in [
      PushOutcome.unsent(.goAway(reason: nil)), .refused(Refusal(status: 503)),
      .unsent(.paused(for: .seconds(1))),
    ] {
      let settlement = decision.settled([outcome], now: Sample.now) { 0 }
      #expect(settlement.entries.map(\.status) == [.pending] && settlement.memo.unrepeatable == [])
      let again = self.decision([], memo: settlement.memo, now: Sample.now + .seconds(9))
      #expect(again.pushes.map(\.entry.id) == [push.entry.id])
      #expect(!push.isSettled(by: outcome))
    }
  }

  @Test(arguments: pushes.indices)
  func `R106: a start or a call is journalled before it is sent, also when it is retried`(
    index: Int
  ) throws {
    let (type, payload, isOnce) = Self.pushes[index]
    let event = try event(type, payload)
    let first = decision([event])
    let id = try #require(first.pushes.first).entry.id
    #expect(first.journal(now: Sample.now)?.unrepeatable == (isOnce ? [id] : nil))
    let failed = first.settled([.refused(Refusal(status: 503))], now: Sample.now) { 0 }
    let later = Sample.now + .seconds(9)
    let retried = decision([], memo: failed.memo, now: later)
    guard isOnce else { return #expect(retried.journal(now: later) == nil) }
    // The node was killed after the first attempt began, and after the second one did.
    let second = self.event(2)
    for (memo, events, attempts) in [
      (first.journal(now: Sample.now), [event], 1), (retried.journal(now: later), [], 2),
    ] {
      let memo = try #require(memo)
      let taken = decision(events + [second], memo: memo, now: later)
      #expect(taken.ended.map(\.id) == [id] && taken.ended.map(\.status) == [.uncertain])
      #expect(taken.ended.map(\.attempts) == [attempts])
      #expect(taken.ended.first?.reason?.code == .engine(.serviceEnded))
      // A push that was committed later was not sent.
      #expect(taken.pushes.map(\.entry.event.id) == [2])
      let settlement = taken.settled([.accepted], now: later) { 0 }
      #expect(settlement.memo.isEmpty && settlement.isOver)
      // The next node may die, too.
      let lost = try #require(taken.journal(now: later))
      let again = decision(events + [second], memo: lost, now: later)
      #expect(again.ended.map(\.status) == [.uncertain, .uncertain] && again.pushes.isEmpty)
      #expect(again.ended.contains { $0.id == id })
    }
  }

  private func event(_ id: Int64) -> RideEvent {
    (try? event(.voip, "{}", id: id)) ?? RideEvent(id: id, name: "none", at: Sample.now)
  }

  @Test func `R106: it is uncertain even if its phone is disabled by then`() throws {
    let event = try event(.voip, "{}", isRegistered: true)
    let sent = decision([event], phones: [Sample.phone(9)])
    let memo = try #require(sent.journal(now: Sample.now))
    #expect(decision([event], memo: memo).ended.map(\.status) == [.uncertain])
    #expect(decision([event]).reasons == ["suppressed: the phone is disabled"])
  }

  @Test func `R106: a refused token counts for a phone, and for nothing if it has none`() throws {
    let phones: [(APNsEnvironment?, TokenOwner)] = [
      (nil, .phone(9)), (.production, .phone(9)), (.sandbox, .unknown),
    ]
    #expect(decision([try event(.alert, "{}")]).pushes.map(\.tokenOwner) == [.unknown])
    for (environment, owner) in phones {
      var push = RawPush(
        .push, app: .customer,
        target: .device(try #require(DeviceToken(Sample.customerToken))), payload: "{}",
        pushType: .alert, priority: .immediate, expiration: 1_800_000_600)
      push.environment = environment
      let event = RideEvent(id: 1, name: "raw_push", at: Sample.now, data: push.eventData)
      let phone = Sample.phone(9, environment: .production)
      #expect(decision([event], phones: [phone]).pushes.map(\.tokenOwner) == [owner])
    }
  }
}
