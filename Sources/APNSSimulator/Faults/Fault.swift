/// The effect of a fault on the push that it strikes, after its delay.
enum FaultAction: Equatable, Sendable {
  /// The push is handled normally: the fault is only the delay.
  case proceed
  case answer(FaultAnswer)
  case stall
  case reset(ErrorCode)
  case close
  case goAway(LastStream, reason: String)
  case maximumStreams(Int)
  case blackHole

  /// The name used in the record.
  var name: String {
    switch self {
    case .proceed: "delay"
    case .answer: "answer"
    case .stall: "stall"
    case .reset: "reset"
    case .close: "close"
    case .goAway: "goaway"
    case .maximumStreams: "max_streams"
    case .blackHole: "no_ping"
    }
  }
}

struct FaultAnswer: Equatable, Sendable {
  let status: Int
  let reason: String?
  /// Milliseconds.
  let timestamp: Int?
  let retryAfterSeconds: Int?
  /// Sent unchanged instead of `{"reason": …}`.
  let body: String?
}

/// The last stream that GOAWAY marks as processed.
enum LastStream: Equatable, Sendable {
  case this
  case previous
  case number(Int)

  func number(for stream: Int32) -> Int32 {
    switch self {
    case .this: stream
    case .previous: max(0, stream - 2)
    case .number(let number): Int32(clamping: number)
    }
  }
}

struct FaultMatch: Equatable, Sendable {
  var token: String?
  var tokenPrefix: String?
  var topic: String?
  var connection: Int?
  /// `push`, `broadcast`, `create`, `read`, `delete` or `list`.
  var call: String?
  var channel: String?
  /// Strikes every n-th match.
  var every: Int?
  /// Strikes only the first n matches.
  var first: Int?

  func matches(_ subject: FaultSubject) -> Bool {
    (token.map { $0 == subject.token } ?? true)
      && (tokenPrefix.map { subject.token.hasPrefix($0) } ?? true)
      && (topic.map { $0 == subject.topic } ?? true)
      && (connection.map { $0 == subject.connection } ?? true)
      && (call.map { $0 == subject.call } ?? true)
      && (channel.map { $0 == subject.channel } ?? true)
  }
}

/// The properties of a push or call that faults are matched against.
struct FaultSubject: Equatable, Sendable {
  let token: String
  /// The bundle ID in the path if there is no topic.
  let topic: String
  let connection: Int
  var call = "push"
  var channel: String?
}

struct Fault: Equatable, Sendable {
  let match: FaultMatch
  let delayMilliseconds: Int
  let action: FaultAction
  /// How many times the fault may strike; nil means without limit.
  let times: Int?
  /// The definition as given, for `GET /simulator/faults`.
  let definition: JSON
}
