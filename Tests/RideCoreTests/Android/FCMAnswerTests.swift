import Testing

@testable import Base
@testable import RideCore

@Suite("What FCM's answers mean") struct FCMAnswerTests {
  private static let left = AndroidSample.at - .seconds(1)

  /// An answer, what becomes of the push, and what is found about its phone.
  private struct Row: Sendable, CustomStringConvertible {
    var status: Int
    var word: String?
    var push: LedgerEntry.Status
    /// The least time until the next attempt, in seconds.
    var wait: Int64?
    var phone: PhoneObservation.Kind?
    var isGone = false
    var isOfConfiguration = false

    var description: String { "\(status) \(word ?? "")" }
    var code: String { word ?? "HTTP \(status)" }

    init(
      _ status: Int, _ word: String?, _ push: LedgerEntry.Status, wait: Int64? = nil,
      phone: PhoneObservation.Kind? = nil, isGone: Bool = false, isOfConfiguration: Bool = false
    ) {
      (self.status, self.word, self.push, self.wait) = (status, word, push, wait)
      (self.phone, self.isGone) = (phone, isGone)
      self.isOfConfiguration = isOfConfiguration
    }
  }

  private static let rows = [
    Row(404, "UNREGISTERED", .rejected, isGone: true),
    Row(403, "SENDER_ID_MISMATCH", .rejected, phone: .bad(probe: nil), isOfConfiguration: true),
    Row(400, "INVALID_REGISTRATION", .rejected, phone: .bad(probe: nil)),
    Row(400, "INVALID_ARGUMENT", .rejected),
    Row(400, "MESSAGE_TOO_LARGE", .rejected),
    Row(401, "UNAUTHENTICATED", .pending, wait: 60, isOfConfiguration: true),
    Row(401, "THIRD_PARTY_AUTH_ERROR", .rejected),
    Row(403, "PERMISSION_DENIED", .pending, wait: 60, isOfConfiguration: true),
    Row(404, "PROJECT_NOT_FOUND", .pending, wait: 60, isOfConfiguration: true),
    Row(
      429, "DEVICE_QUOTA_EXCEEDED", .pending, wait: 60,
      phone: .throttled(until: AndroidSample.at + .seconds(60))),
    Row(429, "QUOTA_EXCEEDED", .pending, wait: 60),
    Row(500, "INTERNAL", .pending, wait: 10), Row(503, "UNAVAILABLE", .pending, wait: 10),
    Row(502, nil, .pending, wait: 10), Row(504, nil, .pending, wait: 10),
    Row(500, "UNSPECIFIED_ERROR", .rejected), Row(408, nil, .pending, wait: 10),
    Row(418, nil, .rejected),
    Row(400, "TOKEN_ENDPOINT", .pending, wait: 60, isOfConfiguration: true),
  ]

  private static func settlement(
    _ outcome: PushOutcome, expires: RuleExpiry = .after(.seconds(3600)), isDoubtful: Bool = false,
    jitter: Double = 0
  ) -> Settlement {
    let decision = AndroidSample.decision(AndroidSample.rule(expires: expires))
    return decision.settled(
      decision.pushes.map { _ in outcome }, now: AndroidSample.at,
      doubtful: isDoubtful ? Set(decision.pushes.map(\.lane)) : [], jitter: { jitter })
  }

  private static func refusal(_ row: Row, after: Duration? = nil) -> Refusal {
    Refusal(
      status: row.status, reason: row.word, timestamp: row.isGone ? left : nil, retryAfter: after)
  }

  @Test(arguments: rows.indices)
  func `each answer has its verdict on push, phone and configuration`(index: Int) throws {
    let row = Self.rows[index]
    let result = Self.settlement(.refused(Self.refusal(row)))
    let entry = try #require(result.entries.first)
    #expect(entry.status == row.push, "\(row)")
    #expect(entry.reason?.code.word == row.code)
    #expect(entry.attempts == 1)
    let due = row.wait.map { AndroidSample.at + .seconds($0) }
    #expect(result.memo.waiting.map(\.due) == [due].compactMap(\.self), "\(row)")
    #expect(
      result.observations
        == [row.phone].compactMap(\.self).map { PhoneObservation(phone: 1, $0) }, "\(row)")
    let gone = TokenInvalidation(kind: .phone, id: 1, since: Self.left, reason: "UNREGISTERED")
    #expect(result.invalidations == (row.isGone ? [gone] : []))
    #expect(result.mistakes.map(\.code.word) == (row.isOfConfiguration ? [row.code] : []))
    #expect(result.mistakes.allSatisfy { $0.network == .android })
  }

  @Test(arguments: rows.indices)
  func `in a lane that is not proved, no answer harms a phone`(index: Int) {
    let row = Self.rows[index]
    let result = Self.settlement(.refused(Self.refusal(row)), isDoubtful: true)
    #expect(result.invalidations.isEmpty)
    #expect(!result.observations.contains(PhoneObservation(phone: 1, .bad(probe: nil))))
    #expect(result.entries.map(\.status) == [row.push])
  }

  @Test func `a token that APNs reports as gone is gone in any lane`() {
    let decision = decide(Sample.view(phones: [Sample.phone()]), by: Sample.book(), now: Sample.now)
    let gone = Refusal(status: 410, reason: "Unregistered", timestamp: Sample.now)
    let result = decision.settled(
      [.refused(gone)], now: Sample.now, doubtful: Set(decision.pushes.map(\.lane)), jitter: { 0 })
    #expect(result.invalidations.map(\.id) == [1])
  }

  /// `retry-after` in seconds, and the wait.
  @Test(arguments: [(7, 7), (0, 0), (1_000_000_000, 300)] as [(Int64, Int64)])
  func `retry-after replaces the wait, up to five minutes`(after: Int64, wait: Int64) {
    for row in Self.rows where row.push == .pending {
      let refusal = Self.refusal(row, after: .seconds(after))
      let result = Self.settlement(.refused(refusal))
      #expect(result.memo.waiting.map(\.due) == [AndroidSample.at + .seconds(wait)], "\(row)")
    }
  }

  @Test func `the backoff comes on top of the wait`() {
    let result = Self.settlement(
      .refused(Refusal(status: 503, reason: "UNAVAILABLE")), jitter: 1)
    #expect(result.nextDue == AndroidSample.at + .seconds(11))
  }

  @Test func `a wait beyond the validity ends the push at once, with the answer's word`() {
    let quota = Refusal(status: 429, reason: "QUOTA_EXCEEDED")
    let result = Self.settlement(.refused(quota), expires: .after(.seconds(60)))
    #expect(result.entries.map(\.status) == [.expired])
    #expect(result.entries.map { $0.reason?.code.word } == ["QUOTA_EXCEEDED"])
    #expect(result.memo.waiting.isEmpty)
  }

  @Test func `a retry has its ID, and lives for what is left`() throws {
    let rule = AndroidSample.rule()
    let first = AndroidSample.decision(rule)
    let settlement = first.settled([.unanswered(.timeout)], now: AndroidSample.at) { 0 }
    var ride = Ride(id: "4711", state: "driver_arrived")
    ride.customerID = "c"
    ride.attributes = #"{"plate":"B-RP 2"}"#
    let view = RideView(
      rideID: "4711", ride: ride, phones: [AndroidSample.phone()], memo: settlement.memo)
    let again = decide(
      view, by: AndroidSample.book([rule], bundleIDs: [:]), now: AndroidSample.at + .seconds(100))
    let push = try #require(again.pushes.first)
    #expect(push.entry.id == first.pushes.first?.entry.id)
    let message = try #require(JSONValue(json: push.payload)?["message"])
    #expect(message.value(at: ["android", "ttl"]) == .string("187s"))
    #expect(message.shown("body") == .string("B-RP 2"))
    #expect(message.datum("rp_id") == .string(push.entry.id.description))
    #expect(message.datum("rp_until") == .string("1795421087"))
  }

  @Test func `the words of FCM and APNs differ, so that one lookup serves both`() {
    let words = Set(APNsReason.table.keys).intersection(FCMReason.table.keys)
    #expect(words.isEmpty)
    for word in FCMReason.table.keys {
      #expect(LedgerReason.Code(word: word) == .service(word))
    }
  }

  @Test func `what FCM adds to its word is in the text, and not in the code`() throws {
    var refusal = Refusal(status: 400, reason: "INVALID_ARGUMENT")
    refusal.detail = "Invalid value at 'message.android.ttl'" + String(repeating: "x", count: 500)
    let entry = try #require(Self.settlement(.refused(refusal)).entries.first)
    #expect(entry.reason?.code == .service("INVALID_ARGUMENT"))
    let text = try #require(entry.reason?.text)
    #expect(text.hasPrefix("INVALID_ARGUMENT: Invalid value at 'message.android.ttl'"))
    #expect(text.utf8.count <= 300)
  }

  @Test func `an app without a service account has a reason and advice of its own`() throws {
    let result = Self.settlement(.unsent(.noCredential("no service account for customer")))
    #expect(result.entries.map(\.status) == [.rejected])
    #expect(result.entries.map { $0.reason?.code } == [.engine(.noServiceAccount)])
    let advice = try #require(result.mistakes.first?.code.explanation?.advice(variable: "CUSTOMER"))
    #expect(advice.contains("FCM_CUSTOMER_SERVICE_ACCOUNT_PATH"))
  }

  @Test(arguments: [PauseCause.refused, .unreachable])
  func `a pause names FCM`(cause: PauseCause) {
    let result = Self.settlement(.unsent(.paused(for: .seconds(5), by: cause)))
    #expect(result.entries.allSatisfy { $0.reason?.text.contains("FCM") == true })
    #expect(result.entries.map(\.attempts) == [0])
  }
}
