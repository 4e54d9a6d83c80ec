import Base
import TestSupport
import Testing

@testable import PushClient

@Suite struct AccessTokenStateTests {
  private static func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1e9))
  }

  private static let outage = AccessTokenProblem(
    word: "no_connection", text: "timeout", isOfConfiguration: false)
  private static let refusal = AccessTokenProblem(
    word: "invalid_grant", status: 400, text: "invalid_grant", isOfConfiguration: true)

  /// A state with the token `a`, fetched at second 0.
  private static func withToken(lifetime: Int = 3599) -> AccessTokenState {
    var state = AccessTokenState()
    _ = state.next(at: at(0))
    state.fetched("a", lifetime: .seconds(lifetime), at: at(0))
    return state
  }

  private static let bearer = Array("Bearer a".utf8)

  @Test func `the first token is fetched at once, and by one fetch`() {
    var state = AccessTokenState()
    #expect(state.next(at: Self.at(0)) == .fetch)
    #expect(state.next(at: Self.at(1)) == .wait(until: .never))
    #expect(state.token(at: Self.at(1)) == nil)
  }

  @Test func `an inherited token is sent until it ends, or until there is another one`() throws {
    let inherited = try #require(Self.withToken().token(at: Self.at(0)))
    var state = AccessTokenState(inheriting: inherited)
    #expect(state.next(at: Self.at(100)) == .fetch, "it is not waited for")
    #expect(state.failed(Self.refusal, at: Self.at(101), random: 0.5) == .seconds(60))
    #expect(state.token(at: Self.at(101)) == inherited)
    #expect(state.life(at: Self.at(101)) == .seconds(3498))
    #expect(state.life(at: Self.at(3599)) == nil)
    _ = state.next(at: Self.at(161))
    state.fetched("b", lifetime: .seconds(3599), at: Self.at(162))
    #expect(state.token(at: Self.at(162))?.authorization == Array("Bearer b".utf8))
    var refused = AccessTokenState(inheriting: inherited)
    let mustFetch = refused.refused(inherited.authorization, at: Self.at(100))
    #expect(mustFetch)
    #expect(refused.token(at: Self.at(100)) == nil, "it may end with its key")
  }

  @Test(arguments: [(3599, 3299.0), (600, 300), (599, 299.5), (60, 30), (1, 0.5)])
  func `a token is replaced five minutes before its end, or at half its life`(
    lifetime: Int, renewal: Double
  ) {
    var state = Self.withToken(lifetime: lifetime)
    #expect(state.next(at: Self.at(0)) == .wait(until: Self.at(renewal)))
    #expect(state.next(at: Self.at(renewal)) == .fetch)
    #expect(state.token(at: Self.at(Double(lifetime) - 0.1))?.authorization == Self.bearer)
    #expect(state.token(at: Self.at(Double(lifetime))) == nil)
  }

  @Test func `waits double to a minute, within a tenth`() {
    var state = AccessTokenState()
    var now = Self.at(0)
    for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
      for (random, share) in [(0.0, 0.9), (1.0, 1.1)] {
        var copy = state
        let wait = copy.failed(Self.outage, at: now, random: random)
        #expect(wait == .microseconds(Int64(Double(expected) * share * 1e6)))
      }
      let wait = state.failed(Self.outage, at: now, random: 0.5)
      #expect(state.next(at: now) == .wait(until: now + wait))
      now = now + wait
      #expect(state.next(at: now) == .fetch)
    }
    #expect(state.problem == Self.outage)
    state.fetched("a", lifetime: .seconds(3599), at: now)
    #expect(state.problem == nil)
    #expect(state.failed(Self.outage, at: now, random: 0.5) == .seconds(1))
  }

  @Test func `what a person has to correct is tried each minute`() {
    var state = AccessTokenState()
    for _ in 0..<3 {
      #expect(state.failed(Self.refusal, at: Self.at(0), random: 0.5) == .seconds(60))
    }
  }

  @Test func `a corrected clock is tried at once, but not twice`() {
    var state = AccessTokenState()
    let now = Self.at(0)
    #expect(state.failed(Self.refusal, isCorrected: true, at: now, random: 0.5) == .zero)
    #expect(state.next(at: now) == .fetch)
    #expect(state.failed(Self.refusal, isCorrected: true, at: now, random: 0.5) == .seconds(60))
  }

  @Test func `a refused token is replaced at once`() {
    var state = Self.withToken()
    let now = Self.at(100)
    #expect(state.refused(Self.bearer, at: now) == true)
    #expect(state.token(at: now) == nil)
    #expect(state.next(at: now) == .fetch)
    #expect(state.refused(Self.bearer, at: now) == false)
  }

  @Test func `refusals of another token, and of one that is seconds old, are ignored`() {
    var state = Self.withToken()
    #expect(state.refused(Array("Bearer b".utf8), at: Self.at(100)) == false)
    #expect(state.refused(Self.bearer, at: Self.at(4.9)) == false)
    #expect(state.token(at: Self.at(100)) != nil)
    #expect(state.refused(Self.bearer, at: Self.at(5)) == true)
  }

  /// Random orders of everything that can happen, with the rules that hold in all of them.
  @Test(arguments: TestSeed.values(200))
  func `the rules hold in any order of events`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var model = Model()
    for _ in 0..<300 { model.step(using: &generator) }
    #expect(model.broken.isEmpty, "\(model.broken)")
  }

  /// What the state must do, in the fewest words.
  private struct Model {
    var state = AccessTokenState()
    var now = AccessTokenStateTests.at(0)
    var issued = 0
    var isFetching = false
    /// What a fetch gave last, unless FCM refused it.
    var valid: AccessTokenState.Token?
    var broken: [String] = []

    mutating func step(using generator: inout SeededGenerator) {
      now = now + .milliseconds(Int64.random(in: 0...400_000, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1: askForWork()
      case 2 where isFetching: end(using: &generator)
      case 3: refuse(using: &generator)
      default: break
      }
      let token = state.token(at: now)
      let expected = valid.flatMap { $0.expiresAt > now ? $0 : nil }
      if token != expected { broken.append("\(token as Any) is sent, not \(expected as Any)") }
    }

    private mutating func askForWork() {
      switch state.next(at: now) {
      case .fetch:
        if isFetching { broken.append("two fetches") }
        isFetching = true
      case .wait(let until):
        if until <= now { broken.append("a wait that is over") }
        // A valid token never ends before another one is fetched.
        if let valid, !isFetching, until > valid.expiresAt, valid.expiresAt > now,
          state.problem == nil
        {
          broken.append("the token ends before its renewal")
        }
      }
    }

    private mutating func end(using generator: inout SeededGenerator) {
      isFetching = false
      if Bool.random(using: &generator) {
        issued += 1
        let lifetime = Int64.random(in: 1...3600, using: &generator)
        state.fetched("\(issued)", lifetime: .seconds(lifetime), at: now)
        valid = state.token(at: now)
        if valid?.authorization != Array("Bearer \(issued)".utf8) { broken.append("no new token") }
      } else {
        let problem =
          Bool.random(using: &generator)
          ? AccessTokenStateTests.outage : AccessTokenStateTests.refusal
        let wait = state.failed(
          problem, at: now, random: Double.random(in: 0..<1, using: &generator))
        if !(.milliseconds(900) ... .seconds(66)).contains(wait) { broken.append("waits \(wait)") }
      }
    }

    private mutating func refuse(using generator: inout SeededGenerator) {
      let number = max(1, issued - Int.random(in: 0...1, using: &generator))
      let authorization = Array("Bearer \(number)".utf8)
      // A storm of refusals is one refusal.
      let answers = (0..<3).map { _ in state.refused(authorization, at: now) }
      if answers.dropFirst().contains(true) { broken.append("a storm fetches twice") }
      let counts =
        valid?.authorization == authorization
        && valid.map { now - $0.fetchedAt >= AccessTokenState.youth } == true
      if answers[0] != counts { broken.append("refused: \(answers[0])") }
      if counts { valid = nil }
    }
  }
}
