/// A push that a rule turns down, with the words for the developer who sent it.
struct Refusal: Equatable, Sendable {
  let reason: Reason
  /// What was found and what was expected: recorded and logged, never sent, as Apple sends none.
  let detail: String
  /// Only with 410: since when, in milliseconds.
  let timestamp: Int?

  init(_ reason: Reason, _ detail: String, timestamp: Int? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }
}
