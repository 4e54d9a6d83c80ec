package import Base

/// What APNs or FCM answered to one attempt.
package struct RecordedAnswer: StoredObject, Hashable, Sendable {
  package var token: String
  /// The HTTP status; 0 if there was no answer.
  package var status: Int
  /// The service's reason; without an answer, the ledger's code for that.
  package var reason: String?
  /// With 410: since when the token is invalid. One that was registered later stays.
  package var timestamp: Timestamp?
  /// How long after the attempt the answer came, in whole milliseconds.
  package var after: Duration = .zero

  package init(token: String, status: Int) {
    self.token = token
    self.status = status
  }

  /// Nil for a push to a channel, and for one that was not tried.
  init?(_ push: PlannedPush, _ outcome: PushOutcome, after: Duration) {
    guard outcome != .unsent(.queuedBehind), !outcome.isHandedBack else { return nil }
    switch push.address {
    case .device(let token): self.init(token: token.hex, status: 0)
    case .registration(let registration): self.init(token: registration.text, status: 0)
    case .channel, .post: return nil
    }
    self.after = after
    switch outcome {
    case .accepted: status = 200
    case .refused(let refusal):
      status = refusal.status
      reason = refusal.reason.map { $0.replacing("\0", with: "") }
      timestamp = refusal.timestamp
    case .unsent, .unanswered: reason = Verdict(outcome, over: push.network).reason?.code.word
    }
  }

  package static var blank: RecordedAnswer { RecordedAnswer(token: "", status: 0) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("token", &token)
    token = DeviceToken.recorded(token)
    let fault = StoredFault("no status", expected: "one of HTTP, or 0 if there was no answer")
    try fields.field(
      "status", &status, as: .other(fault, where: { (0...999).contains($0) }), or: fault)
    try fields.field("reason", &reason)
    try fields.field("timestamp", &timestamp, as: .time)
    var milliseconds: Double? = Double(after.microseconds / 1000)
    try fields.field("after_ms", &milliseconds, as: .number)
    let length = milliseconds ?? 0
    guard length >= 0, length < 1e12 else {
      throw StoredFault("out of range", expected: "milliseconds, 0 or more").within("after_ms")
    }
    after = .microseconds(Int64(length * 1000))
  }
}
