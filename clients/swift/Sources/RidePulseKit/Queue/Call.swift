import Foundation

/// A call of the backend that waits or is on its way.
struct Call: Codable, Hashable, Sendable {
  /// The Idempotency-Key: equal in each attempt, so that one that was repeated is done once.
  let key: String
  let session: Int
  let owner: String
  let report: Report
  let lane: String
  let method: String
  let path: String
  let body: [String: BodyValue]?
  let madeAt: Date
  /// The headers with which a sign-out is sent after its session ended; nil for all other calls.
  let farewell: Farewell?
  var attempts = 0
  /// Attempts that were answered, and failed.
  var answers = 0
  var notBefore: Date?
  /// Whether the backend named the time to wait, which no return to the foreground shortens.
  var isToldToWait = false

  func asksTheSame(as other: Call) -> Bool {
    (method, path) == (other.method, other.path) && body == other.body
  }

  func isExpired(at now: Date) -> Bool {
    report.lifetime.map { now.timeIntervalSince(madeAt) > $0 } ?? false
  }

  /// Returns when the call is due. A clock that was set back delays no call for longer than its pause.
  func due(at now: Date) -> Date {
    guard let notBefore, notBefore.timeIntervalSince(now) <= Backoff.longest else { return now }
    return max(now, notBefore)
  }
}

/// What a call of a sign-out carries.
struct Farewell: Codable, Hashable, Sendable {
  var headers: [String: String]?
}

/// A value in the body of a call.
enum BodyValue: Codable, Hashable, Sendable {
  case text(String)
  case flag(Bool)

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    self =
      try (try? value.decode(Bool.self)).map(BodyValue.flag) ?? .text(value.decode(String.self))
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .text(let text): try value.encode(text)
    case .flag(let flag): try value.encode(flag)
    }
  }
}

/// The outcome of one attempt.
enum CallResult: Hashable, Sendable {
  case done
  /// No answer, or one that may change: `after` is the backend's `Retry-After` in seconds.
  case failed(String, after: Double? = nil, isAnswer: Bool = false)
  case refused(String)

  /// Returns the outcome for an HTTP status.
  init(status: Int, retryAfter: Double?, report: Report, isFarewell: Bool) {
    switch (status, report) {
    case (200..<300, _): self = .done
    // What is gone need not be withdrawn.
    case (404, .withdrawPhone), (404, .withdrawStart), (404, .withdrawCard), (404, .endCard),
      (410, .withdrawPhone), (410, .withdrawStart), (410, .withdrawCard), (410, .endCard):
      self = .done
    // The app may be about to renew its session; one that ended is not renewed.
    case (401, _) where !isFarewell: self = .failed("401", after: retryAfter, isAnswer: true)
    case (408, _), (425, _), (429, _), (500..., _):
      self = .failed(String(status), after: retryAfter, isAnswer: true)
    case (409, _) where retryAfter != nil: self = .failed("409", after: retryAfter, isAnswer: true)
    default: self = .refused(String(status))
    }
  }
}

/// The pause before the next attempt.
enum Backoff {
  static let longest = 3600.0

  /// Returns seconds: 1, 2, 4 … up to 15 minutes, shortened by up to a half; `jitter` is from 0 to 1.
  static func delay(attempts: Int, jitter: Double, retryAfter: Double?) -> Double {
    let pause = min(900, pow(2, Double(min(max(attempts, 1), 16) - 1)))
    let delay = pause * (1 - min(max(jitter, 0), 1) / 2)
    return max(delay, min(longest, max(0, retryAfter ?? 0)))
  }
}
