import Foundation
import Testing

@testable import Base
@testable import RideCore

@Suite("A settlement") struct SettlementTests {
  private func settlement(
    _ outcome: PushOutcome, rule: Rule = Sample.rule(), now: Timestamp = Sample.now,
    jitter: Double = 0, memo: Memo = Memo(), events: [RideEvent] = [Sample.event()]
  ) -> Settlement {
    let decision = decide(
      Sample.view(events: events, memo: memo), by: Sample.book([rule]), now: now)
    return decision.settled(
      Array(repeating: outcome, count: decision.pushes.count), now: now, jitter: { jitter })
  }

  static let verdicts: [(PushOutcome, LedgerEntry.Status, String?)] = [
    (.accepted, .accepted, nil),
    (.refused(Refusal(status: 400, reason: "BadDeviceToken")), .rejected, "BadDeviceToken"),
    (.refused(Refusal(status: 413)), .rejected, "HTTP 413"),
    (.refused(Refusal(status: 403, reason: "Forbidden")), .rejected, "Forbidden"),
    (.unsent(.invalid("the payload is empty")), .rejected, "the payload is empty"),
    (.refused(Refusal(status: 503, reason: "Shutdown")), .pending, "Shutdown"),
    (.refused(Refusal(status: 502)), .pending, "HTTP 502"),
    (.refused(Refusal(status: 429, reason: "TooManyRequests")), .pending, "TooManyRequests"),
    (
      .refused(Refusal(status: 403, reason: "ExpiredProviderToken")), .pending,
      "ExpiredProviderToken"
    ),
    (.unsent(.refusedStream), .pending, "REFUSED_STREAM"),
    (.unsent(.goAway(reason: "Shutdown")), .pending, "GOAWAY Shutdown"),
    (.unsent(.queuedTooLong), .pending, "no free stream in time"),
    (.unsent(.noConnection("refused")), .pending, "no connection: refused"),
    (.unanswered(.timeout), .pending, "no answer in time"),
    (.unanswered(.connectionLost("EOF")), .pending, "connection lost: EOF"),
    (.unanswered(.reset("INTERNAL_ERROR")), .pending, "stream reset: INTERNAL_ERROR"),
  ]

  @Test(arguments: verdicts.indices)
  func `each outcome has its verdict`(index: Int) {
    let (outcome, status, reason) = Self.verdicts[index]
    let result = settlement(outcome)
    #expect(result.entries.map(\.status) == [status])
    #expect(result.entries.map { $0.reason?.text } == [reason])
    #expect(result.entries.map(\.attempts) == [1])
    #expect(result.consumed.map(\.id) == [1])
    #expect(result.memo.waiting.count == (status == .pending ? 1 : 0))
    #expect(result.nextDue == result.memo.waiting.first?.due)
  }

  /// Apple's table: status, reason, and whether the refusal is final for the push.
  static let reasons: [(Int, String, Bool)] = [
    (400, "BadCollapseId", true), (400, "BadDeviceToken", true), (400, "BadExpirationDate", true),
    (400, "BadMessageId", true), (400, "BadPriority", true), (400, "BadTopic", true),
    (400, "DeviceTokenNotForTopic", true), (400, "DuplicateHeaders", true),
    (400, "IdleTimeout", false), (400, "InvalidPushType", true),
    (400, "MissingDeviceToken", true), (400, "MissingTopic", true), (400, "PayloadEmpty", true),
    (400, "TopicDisallowed", true), (403, "BadCertificate", false), (403, "TopicMismatch", false),
    (403, "BadCertificateEnvironment", false), (403, "ExpiredProviderToken", false),
    (403, "Forbidden", true), (403, "InvalidProviderToken", false),
    (403, "MissingProviderToken", false), (403, "UnrelatedKeyIdInToken", false),
    (403, "BadEnvironmentKeyIdInToken", false), (403, "BadEnvironmentKeyInToken", false),
    (404, "BadPath", true), (405, "MethodNotAllowed", true), (410, "ExpiredToken", true),
    (410, "Unregistered", true), (413, "PayloadTooLarge", true),
    (429, "TooManyProviderTokenUpdates", false), (429, "TooManyRequests", false),
    (500, "InternalServerError", false), (503, "ServiceUnavailable", false),
    (503, "Shutdown", false), (418, "SomethingNew", true), (529, "SomethingNew", false),
  ]

  @Test(arguments: reasons)
  func `R10: a reason is permanent or not, an unknown one by its status`(
    status: Int, reason: String, isPermanent: Bool
  ) {
    let rule = Refusal(status: status, reason: reason).rule
    #expect((rule.push == .rejected) == isPermanent)
    // A reason that is neither in Apple's table nor seen on the wire is treated by its status.
    #expect(APNsReason.table[reason]?.status == (reason == "SomethingNew" ? nil : status))
  }

  @Test func `R4: waits double with full jitter, and Retry-After comes on top`() {
    var memo = Memo()
    var waits: [Double] = []
    for _ in 1...8 {
      let rule = Sample.rule(expires: .after(.seconds(86_400)))
      let events = memo.isEmpty ? [Sample.event()] : []
      let now = memo.waiting.first?.due ?? Sample.now
      memo =
        settlement(
          .unanswered(.timeout), rule: rule, now: now, jitter: 1, memo: memo,
          events: events
        ).memo
      waits.append(memo.waiting.first.map { ($0.due - now).inSeconds } ?? -1)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
    let refused = Refusal(status: 429, reason: "TooManyRequests", retryAfter: .seconds(7))
    #expect(settlement(.refused(refused)).nextDue == Sample.now + .seconds(7))
  }

  @Test(arguments: [429, 503])
  func `A18: Retry-After of a day keeps a push and its phone for five minutes`(status: Int) {
    let rule = Sample.rule(expires: .after(.seconds(86_400)))
    let refused = Refusal(
      status: status, reason: status == 429 ? "TooManyRequests" : "Shutdown",
      retryAfter: .seconds(86_400))
    let result = settlement(.refused(refused), rule: rule)
    #expect(result.nextDue == Sample.now + .seconds(300))
    for observation in result.observations {
      #expect(
        observation == PhoneObservation(phone: 1, .throttled(until: Sample.now + .seconds(300))))
    }
    #expect(result.observations.count == (status == 429 ? 1 : 0))
  }

  @Test(arguments: [HandBack.recipientChanged, .recipientUnread, .noRoute])
  func `A5: a push that was handed back is due at once and not counted as tried`(why: HandBack) {
    let result = settlement(.unsent(.handedBack(why)))
    #expect(result.entries.map(\.status) == [.pending])
    #expect(result.entries.map(\.attempts) == [0])
    #expect(result.nextDue == Sample.now)
  }

  @Test func `R22: a retry that would come too late is expired now`() {
    let rule = Sample.rule(expires: .after(.seconds(3)))
    let result = settlement(
      .refused(Refusal(status: 503, reason: "Shutdown")), rule: rule)
    #expect(result.entries.map(\.status) == [.expired])
    #expect(result.entries.map { $0.reason?.text } == ["Shutdown"])
    #expect(result.memo.isEmpty)
  }

  @Test func `a push that a stop cut off is due at once and not counted as tried`() {
    let result = settlement(.unsent(.closed))
    #expect(result.entries.map(\.status) == [.pending])
    #expect(result.entries.map(\.attempts) == [0])
    #expect(result.nextDue == Sample.now)
  }

  @Test func `410 with a time disables the phone; without a time it does not`() {
    let since = Timestamp(epochSeconds: 1_799_999_999)
    let gone = settlement(
      .refused(Refusal(status: 410, reason: "Unregistered", timestamp: since)))
    #expect(
      gone.invalidations == [
        TokenInvalidation(kind: .phone, id: 1, since: since, reason: "Unregistered")
      ])
    #expect(
      settlement(.refused(Refusal(status: 410, reason: "Unregistered"))).invalidations.isEmpty)
    // A word that Apple has not published yet: the status says enough.
    let unknown = settlement(.refused(Refusal(status: 410, reason: "Removed", timestamp: since)))
    #expect(unknown.invalidations.map(\.since) == [since])
  }

  @Test func `a reason from outside is cut short and holds no NUL`() {
    let reason = "a\0b\n" + String(repeating: "x", count: 1000)
    let kept = settlement(.refused(Refusal(status: 400, reason: reason))).entries.first?.reason?
      .text
    #expect(kept?.hasPrefix("ab xxx") == true)
    #expect(kept?.count ?? 0 <= 300)
  }

  @Test func `a retry is rendered from the ride as it is then, under the same ID`() throws {
    let first = settlement(.unanswered(.timeout))
    var ride = Sample.ride()
    ride.attributes = #"{"plate": "NEW 1"}"#
    let due = try #require(first.nextDue)
    let early = decide(
      Sample.view(ride: ride, events: [], memo: first.memo), by: Sample.book(),
      now: Sample.now - .seconds(1))
    #expect(early.pushes.isEmpty)
    #expect(early.kept == first.memo.waiting)
    let again = decide(
      Sample.view(ride: ride, events: [], memo: first.memo), by: Sample.book(), now: due)
    #expect(again.pushes.map(\.headers.id) == first.entries.map(\.id))
    #expect(
      again.pushes.allSatisfy { String(decoding: $0.payload, as: UTF8.self).contains("NEW 1") })
    #expect(again.settled([.accepted], now: due, jitter: { 0 }).entries.map(\.attempts) == [2])
  }

  @Test func `a retry whose rule or phone is gone is closed`() {
    let memo = settlement(.unsent(.refusedStream)).memo
    let later = Sample.now + .seconds(30)
    let noPhone = decide(
      Sample.view(events: [], phones: [], memo: memo), by: Sample.book(), now: later)
    #expect(noPhone.reasons == ["suppressed: the phone is disabled"])
    let noRule = decide(
      Sample.view(events: [], memo: memo), by: Sample.book([Sample.rule("new")]), now: later)
    #expect(noRule.reasons == ["suppressed: the rule is gone"])
  }

  @Test func `a newer push of the same collapse ID supersedes an older one's retry`() {
    let rule = Sample.rule(on: ["eta_changed", "driver_arrived"], collapse: "ride-{{ride.id}}")
    // In one decision the older push is not sent at all.
    let both = settlement(
      .unsent(.refusedStream), rule: rule,
      events: [Sample.event(1, "eta_changed"), Sample.event(2)])
    #expect(both.entries.map(\.status) == [.superseded, .pending])
    #expect(both.entries.first?.reason?.text == "superseded by driver_arrived")
    #expect(both.memo.waiting.map(\.entry.event.id) == [2])
    // Later: the older push is waiting when the newer event arrives.
    let waiting = settlement(.unsent(.refusedStream), rule: rule, events: [Sample.event(1)]).memo
    let next = decide(
      Sample.view(events: [Sample.event(2)], memo: waiting), by: Sample.book([rule]),
      now: Sample.now)
    #expect(next.reasons == ["superseded: superseded by driver_arrived"])
    #expect(next.pushes.map(\.entry.event.id) == [2])
    #expect(next.kept.isEmpty)
  }

  @Test func `R2: a push that may have arrived is uncertain, however the connection ends`() {
    let memo = settlement(.unanswered(.connectionLost("EOF"))).memo
    let doubt = "an earlier attempt was not answered"
    let late = Sample.now + .seconds(3600)
    let expired = decide(Sample.view(events: [], memo: memo), by: Sample.book(), now: late)
    #expect(expired.ended.map(\.status) == [.uncertain])
    #expect(expired.ended.first?.reason?.text.hasSuffix(doubt) == true)
    let noPhone = decide(
      Sample.view(events: [], phones: [], memo: memo), by: Sample.book(),
      now: Sample.now + .seconds(30))
    #expect(noPhone.reasons == ["uncertain: the phone is disabled; " + doubt])
    let rule = Sample.rule(on: ["eta_changed", "driver_arrived"], collapse: "one")
    let first = settlement(.unanswered(.timeout), rule: rule, events: [Sample.event(1)]).memo
    let both = decide(
      Sample.view(events: [Sample.event(2)], memo: first), by: Sample.book([rule]), now: Sample.now)
    #expect(both.reasons == ["uncertain: superseded by driver_arrived; " + doubt])
    // The final response of APNs decides.
    let again = decide(
      Sample.view(events: [], memo: memo), by: Sample.book(), now: Sample.now + .seconds(30))
    #expect(
      again.settled([.accepted], now: late, jitter: { 0 }).entries.map(\.status) == [.accepted])
    // The first attempt is uncertain, and then there is no connection until the push expires.
    let end = again.settled([.unsent(.refusedStream)], now: late, jitter: { 0 })
    #expect(end.entries.map { $0.reason?.text } == ["REFUSED_STREAM; " + doubt])
  }

  @Test func `R39: a push that expired on a dead node is uncertain`() {
    var view = Sample.view()
    let late = Sample.now + .seconds(3600)
    #expect(decide(view, by: Sample.book(), now: late).ended.map(\.status) == [.expired])
    view.isTakenOver = true
    let taken = decide(view, by: Sample.book(), now: late)
    #expect(taken.ended.map(\.status) == [.uncertain])
    #expect(taken.ended.first?.reason?.text.contains("the node that held the ride ended") == true)
    #expect(decide(view, by: Sample.book(), now: Sample.now).ended.isEmpty)
    // Another node retries the push, but it is not sent in time.
    let retried = decide(view, by: Sample.book(), now: Sample.now)
    let end = retried.settled([.unsent(.queuedTooLong)], now: late, jitter: { 0 })
    #expect(end.entries.map(\.status) == [.uncertain])
    #expect(
      retried.settled([.accepted], now: Sample.now, jitter: { 0 }).entries.map(\.status)
        == [.accepted])
    // Without a phone, nothing can have been sent.
    view.phones = []
    #expect(decide(view, by: Sample.book(), now: late).ended.map(\.status) == [.suppressed])
  }

  @Test func `a ride leaves the agenda when it is not active and nothing waits`() {
    func isOver(_ state: String?, _ outcome: PushOutcome) -> Bool {
      var ride = Sample.ride()
      ride.state = state
      let decision = decide(Sample.view(ride: ride), by: Sample.book(), now: Sample.now)
      return decision.settled([outcome], now: Sample.now, jitter: { 0 }).isOver
    }
    #expect(!isOver("driver_arrived", .accepted))
    #expect(isOver("ride_completed", .accepted))
    #expect(isOver(nil, .accepted))
    #expect(!isOver("ride_completed", .unanswered(.timeout)))
  }

  @Test func `a memo reads back as it was written`() throws {
    let memo = settlement(.unanswered(.timeout)).memo
    let read = try Memo(storedText: memo.storedText)
    #expect(read == memo)
    #expect(!memo.isEmpty)
  }
}
