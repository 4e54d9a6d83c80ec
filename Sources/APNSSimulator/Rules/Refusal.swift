/// A rule's refusal of a push, with an explanation for the developer who sent it.
struct Refusal: Equatable, Sendable {
  let reason: Reason
  /// The value found and the form expected: recorded and logged, but not sent, because Apple sends
  /// no such text.
  let detail: String
  /// Since when the token is invalid, in milliseconds; only with 410.
  let timestamp: Int?

  init(_ reason: Reason, _ detail: String, timestamp: Int? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }
}
