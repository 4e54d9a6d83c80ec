import Base
import RideCore
import Testing

@testable import Orchestrator

@Suite("Lanes whose service answers nothing") struct LaneSilenceTests {
  private static let lane = PushLane(network: .android, app: .customer)
  private static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let gone = PushOutcome.refused(Refusal(status: 404, reason: "UNREGISTERED"))

  static func at(_ seconds: Double) -> Timestamp { start + .seconds(seconds) }

  static func push(
    _ sentAt: Double, ticket: UInt64 = 1, in lane: PushLane = lane
  ) -> InFlight.OpenPush {
    InFlight.OpenPush(ticket: ticket, lane: lane, sentAt: .seconds(sentAt))
  }

  /// Returns lanes with one answer: to a push sent and answered at these times.
  static func lanes(answered: (sentAt: Double, at: Double)?) -> Lanes {
    var lanes = Lanes()
    _ = lanes.record(
      answered == nil ? .unsent(.closed) : .accepted, of: lane, to: .card, at: start,
      times: answered.map { (.seconds($0.sentAt), .seconds($0.at)) })
    return lanes
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var answered: (sentAt: Double, at: Double)?
    /// When pushes without an outcome were sent.
    var sent: [Double]
    var at: Double
    /// Whether no ride of other services waits for them, and whether the lane pauses.
    var isSilent: Bool
    var pauses: Bool
  }

  private static let cases = [
    Case(
      testDescription: "two pushes for two seconds", answered: (0, 0.1), sent: [10, 10], at: 12,
      isSilent: true, pauses: true),
    Case(
      testDescription: "not yet two seconds", answered: (0, 0.1), sent: [10, 10], at: 11.9,
      isSilent: false, pauses: false),
    Case(
      testDescription: "one push may be a lost stream", answered: (0, 0.1), sent: [10], at: 15,
      isSilent: true, pauses: false),
    Case(
      testDescription: "the second was sent a moment ago", answered: (0, 0.1), sent: [10, 11.5],
      at: 12, isSilent: true, pauses: false),
    Case(
      testDescription: "an answer since they were sent", answered: (10.5, 10.6), sent: [10, 10],
      at: 15, isSilent: false, pauses: false),
    Case(
      testDescription: "the lane's first pushes may wait for a connection", answered: nil,
      sent: [10, 10], at: 13.9, isSilent: false, pauses: false),
    Case(
      testDescription: "and are silent later", answered: nil, sent: [10, 10], at: 14,
      isSilent: true, pauses: true),
    Case(
      testDescription: "a service that is slow", answered: (0, 3), sent: [10, 10], at: 14.4,
      isSilent: false, pauses: false),
    Case(
      testDescription: "a service that was slow, and is silent now", answered: (0, 3),
      sent: [10, 10], at: 14.5, isSilent: true, pauses: true),
    Case(
      testDescription: "a lane without an answer for a minute may have to connect",
      answered: (0, 0.1), sent: [60.2, 60.2], at: 64, isSilent: false, pauses: false),
    Case(
      testDescription: "and is silent later", answered: (0, 0.1), sent: [60.2, 60.2], at: 64.3,
      isSilent: true, pauses: true),
    Case(
      testDescription: "a lane in use does not", answered: (0, 0.1), sent: [60, 60], at: 62,
      isSilent: true, pauses: true),
    Case(
      testDescription: "a slow service that was not used for two minutes", answered: (0, 3),
      sent: [123, 123], at: 127.4, isSilent: false, pauses: false),
    Case(
      testDescription: "no push in flight", answered: (0, 0.1), sent: [], at: 99, isSilent: false,
      pauses: false),
  ]

  @Test(arguments: cases) func `a lane is silent if nothing was answered since its pushes left`(
    example: Case
  ) {
    var lanes = Self.lanes(answered: example.answered)
    let (changes, silent) = lanes.checkSilence(
      example.sent.map { Self.push($0) }, at: .seconds(example.at), now: Self.at(example.at))
    #expect(silent.isEmpty == !example.isSilent)
    #expect(changes.isEmpty == !example.pauses)
    #expect((lanes.statistics.first?.pausedBy == .unreachable) == example.pauses)
  }

  private static func deferral(
    of ticket: UInt64, in lanes: inout Lanes, isConnected: Bool = true, at now: Timestamp
  ) -> Duration? {
    lanes.deferral(of: ticket, in: lane, isConnected: isConnected, at: now)?.wait
  }

  @Test(arguments: [true, false])
  func `a probe without a stream is reported, and a connection that opens later resumes the lane`(
    isConnected: Bool
  ) throws {
    var lanes = Self.lanes(answered: (0, 0.1))
    let open = [Self.push(10, ticket: 1), Self.push(10, ticket: 2)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    var request = try FCMLaneTests.request()
    request.ticket = 3
    #expect(lanes.admit([request], at: Self.at(14)).go.count == 1)
    let deferral = lanes.deferral(
      of: 3, in: Self.lane, isConnected: isConnected, at: Self.at(15))
    #expect(
      deferral?.change
        == .paused(until: Self.at(19), problems: 1, of: 1, by: .unreachable))
    let resumed = lanes.observe([.android: .connected], at: Self.at(15.1))
    #expect(resumed == (isConnected ? [] : [Self.lane]))
    #expect(lanes.admit([request], at: Self.at(15.1)).go.isEmpty == isConnected)
  }

  private static let tokenEndpoint = PushOutcome.unsent(
    .turnedAway(Refusal(status: 400, reason: Refusal.tokenEndpoint)))

  @Test(
    arguments: [
      (tokenEndpoint, false), (.unsent(.certificateRefused("unknown ca")), false),
      (.unsent(.turnedAway(Refusal(status: 401, reason: "UNAUTHENTICATED"))), true),
    ] as [(PushOutcome, Bool)])
  func `a credential without an answer resumes nothing, and pauses a probe as refused`(
    outcome: PushOutcome, isAnswer: Bool
  ) {
    #expect(outcome.isAnswer == isAnswer)
    var breaker = Self.silentBreaker()
    #expect((breaker.record(outcome, at: Self.at(1)) == .resumed) == isAnswer)
    #expect(breaker.isPaused == !isAnswer)
    if isAnswer { return }
    #expect(breaker.admit(at: Self.at(2)) == .go)
    guard case .paused(_, 1, 1, .refused) = breaker.record(outcome, at: Self.at(2)) else {
      Issue.record("the cause is lost")
      return
    }
    #expect(breaker.cause == .refused && !breaker.isSilent)
  }

  @Test func `other lanes and receivers of posts stay as they are`() {
    var lanes = Self.lanes(answered: (0, 0.1))
    let post = PushLane(
      network: .production, app: App(rawValue: PostAddress(receiver: "sms", rule: "r").lane))
    let other = PushLane(network: .production, app: .customer)
    for lane in [post, other] {
      _ = lanes.record(
        .accepted, of: lane, to: .card, at: Self.start, times: (.zero, .milliseconds(100)))
    }
    _ = lanes.record(
      .accepted, of: other, to: .card, at: Self.start, times: (.seconds(11), .seconds(11.1)))
    let open = [Self.lane, post, other].flatMap { lane in
      [Self.push(10, in: lane), Self.push(10, in: lane)]
    }
    let (changes, silent) = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    #expect(changes.map(\.0) == [Self.lane])
    #expect(silent.allSatisfy { $0.lane == Self.lane } && silent.count == 2)
  }

  /// When a push timed out, and whether it counts for one that was sent at 100 s, at 104 s.
  @Test(arguments: [(95, true), (45, true), (44, false)])
  func `a push that timed out within the last minute counts as one of two`(
    timedOutAt: Double, pauses: Bool
  ) {
    var lanes = Self.lanes(answered: (0, 0.1))
    _ = lanes.record(
      .unanswered(.timeout), of: Self.lane, to: .card, at: Self.at(timedOutAt),
      times: (.seconds(timedOutAt - 10), .seconds(timedOutAt)))
    let (changes, _) = lanes.checkSilence(
      [Self.push(100)], at: .seconds(104), now: Self.at(104))
    #expect(changes.isEmpty == !pauses)
  }

  @Test func `an answer since ends what a push that timed out shows`() {
    var lanes = Self.lanes(answered: (0, 0.1))
    for (outcome, at) in [(PushOutcome.unanswered(.timeout), 80), (.accepted, 90)] {
      _ = lanes.record(
        outcome, of: Self.lane, to: .card, at: Self.at(Double(at)),
        times: (.seconds(at - 10), .seconds(at)))
    }
    let (changes, _) = lanes.checkSilence(
      [Self.push(100)], at: .seconds(115), now: Self.at(115))
    #expect(changes.isEmpty)
  }

  private static func silentBreaker() -> CircuitBreaker {
    var breaker = CircuitBreaker()
    _ = breaker.recordSilence(unanswered: 2, at: start)
    return breaker
  }

  @Test func `the breaker opens at once, and probes often`() {
    var breaker = CircuitBreaker()
    var until = Self.start
    for pause in [2, 4, 8, 15, 15] as [Double] {
      let now = until
      until = now + .seconds(pause)
      #expect(
        breaker.recordSilence(unanswered: 2, at: now)
          == .paused(until: until, problems: 2, of: 2, by: .unreachable))
      #expect(breaker.recordSilence(unanswered: 2, at: now) == nil, "it is open")
      #expect(breaker.admit(at: until + .seconds(-0.1)) == .wait(until: until, .unreachable))
      #expect(breaker.admit(at: until) == .go)
    }
    #expect(breaker.record(.accepted, at: until) == .resumed)
    #expect(!breaker.isPaused && !breaker.isSilent)
  }

  @Test(arguments: [.accepted, gone, .refused(Refusal(status: 503, reason: "UNAVAILABLE"))])
  func `any answer closes it, also of a push that left before`(answer: PushOutcome) {
    var breaker = Self.silentBreaker()
    #expect(breaker.record(.unanswered(.timeout), at: Self.at(1)) == nil)
    #expect(breaker.record(.unsent(.noConnection("refused")), at: Self.at(1)) == nil)
    #expect(breaker.isSilent)
    #expect(breaker.record(answer, at: Self.at(1)) == .resumed)
    #expect(!breaker.isPaused && !breaker.isSilent)
  }

  @Test func `an answer that the quota is used up pauses it by that`() {
    var breaker = Self.silentBreaker()
    let quota = PushOutcome.refused(Refusal(status: 429, reason: "QUOTA_EXCEEDED"))
    #expect(
      breaker.record(quota, at: Self.at(1)) == .paused(until: Self.at(61), problems: 1, of: 1))
    #expect(!breaker.isSilent)
  }

  @Test func `a connection ends the pause, unless it was open all the while`() {
    var breaker = Self.silentBreaker()
    let resumed = [true, false, true].map {
      breaker.observe(isConnected: $0, at: Self.at(1))
    }
    #expect(resumed == [false, false, true])
  }

  @Test func `a probe has the same limit, and no ride of another service waits for the others`()
    throws
  {
    var lanes = Self.lanes(answered: (0, 0.1))
    let open = [Self.push(10, ticket: 1), Self.push(10, ticket: 2)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    var request = try FCMLaneTests.request()
    request.ticket = 3
    #expect(lanes.admit([request], at: Self.at(13.9)).go.isEmpty)
    #expect(lanes.admit([request], at: Self.at(14)).go.count == 1)
    let probed = open + [Self.push(14, ticket: 3)]
    var (changes, silent) = lanes.checkSilence(probed, at: .seconds(15.9), now: Self.at(15.9))
    #expect(changes.isEmpty && silent.map(\.ticket) == [1, 2])
    #expect(Self.deferral(of: 2, in: &lanes, at: Self.at(15.9)) == .seconds(1))
    (changes, silent) = lanes.checkSilence(probed, at: .seconds(16), now: Self.at(16))
    #expect(changes.count == 1 && silent.map(\.ticket) == [1, 2, 3])
    #expect(Self.deferral(of: 3, in: &lanes, at: Self.at(16)) == .seconds(4))
  }

  @Test func `a push without a stream is deferred while its lane is silent, also a probe`() throws {
    var lanes = Self.lanes(answered: (0, 0.1))
    #expect(Self.deferral(of: 1, in: &lanes, at: Self.at(11)) == nil)
    let open = [Self.push(10, ticket: 1), Self.push(10, ticket: 2)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    #expect(Self.deferral(of: 1, in: &lanes, at: Self.at(12.5)) == .seconds(1.5))
    var request = try FCMLaneTests.request()
    request.ticket = 3
    #expect(lanes.admit([request], at: Self.at(14)).go.count == 1)
    #expect(Self.deferral(of: 3, in: &lanes, at: Self.at(15)) == .seconds(4))
    #expect(lanes.admit([request], at: Self.at(18.9)).go.isEmpty)
    #expect(lanes.admit([request], at: Self.at(19)).go.count == 1)
  }

  @Test func `a probe after refusals may take as long as any push`() throws {
    var lanes = Self.lanes(answered: (0, 0.1))
    let refused = PushOutcome.refused(Refusal(status: 503, reason: "UNAVAILABLE"))
    for _ in 0..<50 { _ = lanes.record(refused, of: Self.lane, to: .card, at: Self.at(1)) }
    var request = try FCMLaneTests.request()
    request.ticket = 3
    #expect(lanes.admit([request], at: Self.at(6)).go.count == 1)
    let (changes, _) = lanes.checkSilence(
      [Self.push(6, ticket: 3)], at: .seconds(15), now: Self.at(15))
    #expect(changes.isEmpty && lanes.statistics.map(\.pausedBy) == [.refused])
  }

  @Test func `a late answer resumes the lane, and raises its limit`() {
    var lanes = Self.lanes(answered: (0, 0.1))
    let open = [Self.push(10), Self.push(10)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    let late = WithdrawnPushes.Push(lane: Self.lane, sentAt: .seconds(10))
    #expect(
      lanes.record(late: .unanswered(.timeout), of: late, at: .seconds(13), now: Self.at(13)) == nil
    )
    #expect(lanes.record(late: .accepted, of: late, at: .seconds(13), now: Self.at(13)) == .resumed)
    #expect(lanes.record(late: .accepted, of: late, at: .seconds(13), now: Self.at(13)) == nil)
    let again = [Self.push(20), Self.push(20)]
    #expect(
      lanes.checkSilence(again, at: .seconds(24.4), now: Self.at(24.4)).silent.isEmpty,
      "a service that answers after three seconds is not silent again")
  }

  @Test func `a replaced credential disregards what its predecessor sent`() {
    var lanes = Self.lanes(answered: (0, 0.1))
    let open = [Self.push(10), Self.push(10)]
    _ = lanes.checkSilence(open, at: .seconds(12), now: Self.at(12))
    let reset = lanes.reset(at: .seconds(13)) { $0 == Self.lane }
    #expect(reset == [Self.lane])
    #expect(lanes.checkSilence(open, at: .seconds(14), now: Self.at(14)).silent.isEmpty)
  }
}
