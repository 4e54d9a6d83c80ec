import Testing

@testable import Base
@testable import RideCore

@Suite("Problems of phones") struct PhoneTests {
  private static let bad = PushOutcome.refused(Refusal(status: 400, reason: "BadDeviceToken"))

  private var book: EngineConfiguration {
    var book = Sample.book()
    book.probesEnvironment = true
    return book
  }

  private func phone(_ change: (inout PhoneProblem) -> Void) -> Phone {
    var phone = Sample.phone()
    var problem = PhoneProblem()
    problem.refusals = 1
    change(&problem)
    phone.problem = problem
    return phone
  }

  private func decision(
    _ phone: Phone, _ memo: Memo = Memo(), book: EngineConfiguration? = nil,
    now: Timestamp = Sample.now
  ) -> Decision {
    let events = memo.waiting.isEmpty ? [Sample.event()] : []
    return decide(
      Sample.view(events: events, phones: [phone], memo: memo), by: book ?? self.book, now: now)
  }

  private func settled(_ decision: Decision, _ outcome: PushOutcome, now: Timestamp = Sample.now)
    -> Settlement
  {
    decision.settled(decision.pushes.map { _ in outcome }, now: now) { 0 }
  }

  /// Returns the settlement of a first BadDeviceToken, and the push's ID.
  private func refused() -> (Settlement, PushID?) {
    let settlement = settled(decision(Sample.phone()), Self.bad)
    return (settlement, settlement.entries.first?.id)
  }

  @Test func `R16: a push to a phone without an environment is retried as a probe`() {
    let (settlement, id) = refused()
    #expect(settlement.entries.map(\.status) == [.pending])
    #expect(settlement.observations == [PhoneObservation(phone: 1, .bad(probe: id))])
    #expect(settlement.memo.waiting.map(\.entry.id) == [id])
  }

  @Test func `R16: the probe is sent to the other environment`() {
    let (settlement, id) = refused()
    let now = Sample.now + .seconds(2)
    let probe = decision(phone { $0.probe = id }, settlement.memo, now: now)
    #expect(probe.pushes.map(\.network) == [.sandbox])
    let accepted = settled(probe, .accepted, now: now)
    #expect(accepted.observations == [PhoneObservation(phone: 1, .probed(.sandbox))])
    #expect(accepted.entries.map(\.status) == [.accepted])
    let refuted = settled(probe, Self.bad, now: now)
    #expect(refuted.observations == [PhoneObservation(phone: 1, .probed(nil))])
    #expect(refuted.entries.map(\.status) == [.rejected])
    #expect(refuted.memo.waiting.isEmpty)
  }

  @Test func `R16: a probe without an answer remains the probe`() {
    let (settlement, id) = refused()
    let now = Sample.now + .seconds(2)
    let probe = decision(phone { $0.probe = id }, settlement.memo, now: now)
    let again = settled(probe, .unanswered(.timeout), now: now)
    #expect(again.observations.isEmpty)
    let later = now + .seconds(60)
    let next = decision(phone { $0.probe = id }, again.memo, now: later)
    #expect(next.pushes.map(\.network) == [.sandbox])
  }

  @Test func `R16: other pushes wait for the probe and use its result`() {
    let (settlement, _) = refused()
    let now = Sample.now + .seconds(2)
    let other = PushID(of: "another")
    let waiting = decision(phone { $0.probe = other }, settlement.memo, now: now)
    #expect(waiting.pushes.isEmpty)
    #expect(waiting.deferred.map(\.due) == [now + .seconds(1)])
    let still = settled(waiting, .accepted, now: now)
    #expect(still.entries.map(\.status) == [.pending])
    #expect(still.observations.isEmpty)

    var learned = Sample.phone()
    learned.environment = .sandbox
    #expect(decision(learned, still.memo, now: now + .seconds(2)).pushes.count == 1)
    let refuted = decision(phone { $0.isProbed = true }, still.memo, now: now + .seconds(2))
    #expect(refuted.pushes.isEmpty)
    #expect(refuted.reasons == ["rejected: BadDeviceToken"])
  }

  @Test func `R16: a probe that is over before it went leaves the phone to another push`() {
    let (settlement, id) = refused()
    let later = Sample.now + .seconds(3600)
    let late = decision(phone { $0.probe = id }, settlement.memo, now: later)
    #expect(late.pushes.isEmpty)
    let end = settled(late, .accepted, now: later)
    #expect(end.entries.map(\.status) == [.expired])
    #expect(end.observations == id.map { [PhoneObservation(phone: 1, .unprobed($0))] })
  }

  @Test
  func `R16: no probe if the app stated the environment, or it was probed, or probing is off`() {
    var stated = Sample.phone()
    stated.environment = .production
    var forbidden = book
    forbidden.probesEnvironment = false
    for decision in [
      decision(stated), decision(phone { $0.isProbed = true }),
      decision(Sample.phone(), book: forbidden),
    ] {
      let settlement = settled(decision, Self.bad)
      #expect(settlement.entries.map(\.status) == [.rejected])
      #expect(settlement.observations == [PhoneObservation(phone: 1, .bad(probe: nil))])
    }
  }

  @Test func `R16: a superseded push does not probe`() {
    let first = decide(
      Sample.view(
        events: [Sample.event(1), Sample.event(2)], phones: [Sample.phone()]),
      by: {
        var book = Sample.book([Sample.rule(collapse: "one")])
        book.probesEnvironment = true
        return book
      }(), now: Sample.now)
    let settlement = settled(first, Self.bad)
    #expect(settlement.entries.map(\.status) == [.superseded, .pending])
    #expect(settlement.observations.map(\.kind) == [.bad(probe: settlement.entries[1].id)])
  }

  @Test func `R13: nothing is sent to a phone in quarantine, and the ledger has the reason`() {
    let quarantined = phone {
      $0.refusals = 3
      $0.isQuarantined = true
    }
    let decision = decision(quarantined)
    #expect(decision.pushes.isEmpty)
    #expect(
      decision.reasons
        == ["suppressed: the phone is in quarantine: APNs refused its token 3 times in a row"])
  }

  private static let otherTopic = PushOutcome.refused(
    Refusal(status: 400, reason: "DeviceTokenNotForTopic"))

  @Test func `R100 a token of another topic counts against the phone and is not probed`() {
    let settlement = settled(decision(Sample.phone()), Self.otherTopic)
    #expect(settlement.entries.map(\.status) == [.rejected])
    #expect(settlement.observations == [PhoneObservation(phone: 1, .bad(probe: nil))])
    #expect(settlement.memo.waiting.isEmpty)
  }

  @Test func `R100 a probe that finds another topic is over`() {
    let (settlement, id) = refused()
    let now = Sample.now + .seconds(2)
    let probe = decision(phone { $0.probe = id }, settlement.memo, now: now)
    let refuted = settled(probe, Self.otherTopic, now: now)
    #expect(refuted.observations == [PhoneObservation(phone: 1, .probed(nil))])
    #expect(refuted.entries.map(\.status) == [.rejected])
  }

  @Test(arguments: [bad, otherTopic])
  func `R100 in a doubtful lane a refusal does not count against the phone`(outcome: PushOutcome) {
    var stated = Sample.phone()
    stated.environment = .production
    let decision = decision(stated)
    func observations(_ environment: APNsEnvironment) -> [PhoneObservation] {
      let lane = PushLane(network: PushNetwork(environment), app: stated.app)
      return decision.settled([outcome], now: Sample.now, doubtful: [lane]) { 0 }.observations
    }
    #expect(observations(.production).isEmpty)
    #expect(observations(.sandbox) == [PhoneObservation(phone: 1, .bad(probe: nil))])
  }

  @Test(arguments: [bad, otherTopic])
  func `R100 in a doubtful lane a refused probe does not count, and another push may probe`(
    outcome: PushOutcome
  ) {
    let (settlement, id) = refused()
    let now = Sample.now + .seconds(2)
    let probe = decision(phone { $0.probe = id }, settlement.memo, now: now)
    let lane = PushLane(network: .sandbox, app: Sample.phone().app)
    let end = probe.settled([outcome], now: now, doubtful: [lane]) { 0 }
    #expect(end.observations == id.map { [PhoneObservation(phone: 1, .unprobed($0))] })
    #expect(end.entries.map(\.status) == [.rejected])
  }

  @Test func `R100 a push to a refused phone that APNs accepts resets the count`() {
    let refused = phone { $0.refusals = 2 }
    #expect(
      settled(decision(refused), .accepted).observations == [PhoneObservation(phone: 1, .good)])
  }

  @Test func `A phone that is taken again is good, and one that always was is not written`() {
    #expect(
      settled(decision(phone { _ in }), .accepted).observations == [
        PhoneObservation(phone: 1, .good)
      ])
    #expect(settled(decision(Sample.phone()), .accepted).observations.isEmpty)
  }

  @Test func `R4: a phone that APNs asks to spare is spared by every push`() {
    let busy = PushOutcome.refused(
      Refusal(status: 429, reason: "TooManyRequests", retryAfter: .seconds(20)))
    let until = Sample.now + .seconds(20)
    let settlement = settled(decision(Sample.phone()), busy)
    #expect(settlement.observations == [PhoneObservation(phone: 1, .throttled(until: until))])

    let spared = decision(phone { $0.quietUntil = until.microseconds })
    #expect(spared.pushes.isEmpty)
    let end = settled(spared, .accepted)
    #expect(end.memo.waiting.map(\.due) == [until])
    #expect(end.entries.map(\.status) == [.pending])
    #expect(end.entries.map(\.attempts) == [0])
    #expect(decision(phone { $0.quietUntil = until.microseconds }, now: until).pushes.count == 1)
    let hours = Sample.now + .seconds(7200)
    #expect(
      decision(phone { $0.quietUntil = hours.microseconds }).reasons == ["expired: TooManyRequests"]
    )
  }
}
