import SimulatorKit

extension FaultAction {
  /// The answer that the fault gives; nil for any other fault.
  var answer: FaultAnswer? {
    if case .answer(let answer) = self { answer } else { nil }
  }
}

/// The answers of faults, in the form of the service that they strike.
enum ToldAnswer {
  private static let text = "The simulator was told to answer so."

  /// Returns an answer of the token endpoint.
  static func token(_ told: FaultAnswer, at time: WallTime) -> Answer {
    guard told.body == nil, let word = told.reason else { return page(told, at: time) }
    let json = OAuthError(error: word, description: text).json
    return Answer(
      status: told.status, headers: [type("application/json")] + retryAfter(told, at: time),
      body: json.serialized)
  }

  /// Returns an answer of FCM, or of the front end before it.
  static func message(_ told: FaultAnswer, _ record: SendRecord, at time: WallTime) -> Answer {
    guard told.body == nil, let word = told.reason else { return page(told, at: time) }
    let answer = refusal(told.status, word, record).answer
    return Answer(
      status: told.status, headers: answer.headers + retryAfter(told, at: time),
      body: answer.body)
  }

  /// FCM's own words; others are the status of an answer that FCM itself has not seen, or its reason.
  private static let words: Set = [
    "UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT", "QUOTA_EXCEEDED", "UNAVAILABLE",
    "INTERNAL", "THIRD_PARTY_AUTH_ERROR", "UNSPECIFIED_ERROR",
  ]

  private static func refusal(_ status: Int, _ word: String, _ record: SendRecord) -> Refusal {
    let canonical = canonical(status)
    var refusal = Refusal(status: status, canonical: canonical, message: text)
    let registration = record.registration ?? ""
    switch word {
    case "QUOTA_EXCEEDED":
      refusal.code = word
      refusal.quotaSubject = "project:\(record.project)"
    case "DEVICE_QUOTA_EXCEEDED":
      refusal.code = "QUOTA_EXCEEDED"
      refusal.quotaSubject = "device:\(registration.suffix(6))"
    case "INVALID_REGISTRATION":
      refusal.code = "INVALID_ARGUMENT"
      refusal.field = "message.token"
    case _ where words.contains(word): refusal.code = word
    case canonical: break
    default: refusal.reason = word
    }
    return refusal
  }

  /// The word of google.rpc for a status.
  private static func canonical(_ status: Int) -> String {
    switch status {
    case 400: "INVALID_ARGUMENT"
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 429: "RESOURCE_EXHAUSTED"
    case 503: "UNAVAILABLE"
    default: "INTERNAL"
    }
  }

  /// A body as it was given; without one an empty page.
  private static func page(_ told: FaultAnswer, at time: WallTime) -> Answer {
    let body = Array((told.body ?? "").utf8)
    let isJSON = body.first == UInt8(ascii: "{")
    return Answer(
      status: told.status,
      headers: [type(isJSON ? "application/json" : "text/html")] + retryAfter(told, at: time),
      body: body)
  }

  private static func type(_ value: String) -> Header {
    Header(name: "content-type", value: value)
  }

  private static func retryAfter(_ told: FaultAnswer, at time: WallTime) -> [Header] {
    guard let seconds = told.retryAfterSeconds else { return [] }
    // A wait of centuries has no date of four digits.
    let end = WallTime(
      seconds: time.seconds + min(seconds, 100 * 366 * 86_400), microseconds: 0)
    let value = told.isRetryAfterDate ? end.httpDate : String(seconds)
    return [Header(name: "retry-after", value: value)]
  }
}
