/// What a fault does to the push it strikes, once its delay is over.
enum FaultAction: Equatable, Sendable {
  /// The push goes its ordinary way: the fault is the delay.
  case proceed
  case answer(FaultAnswer)
  case stall
  case reset(ErrorCode)
  case close
  case goAway(LastStream, reason: String)
  case maximumStreams(Int)
  case blackHole

  /// As the record names it.
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
  /// Sent as it is, in place of `{"reason": …}`.
  let body: String?
}

/// The last stream that GOAWAY says was processed.
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
  /// Strikes each n-th match.
  var every: Int?
  /// Strikes the first n matches only.
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

/// The push or call that a fault may strike.
struct FaultSubject: Equatable, Sendable {
  let token: String
  /// The bundle ID of the path where there is no topic.
  let topic: String
  let connection: Int
  var call = "push"
  var channel: String?
}

struct Fault: Equatable, Sendable {
  let match: FaultMatch
  let delayMilliseconds: Int
  let action: FaultAction
  /// How often it may strike; nil: without limit.
  let times: Int?
  /// As it was given, for `GET /simulator/faults`.
  let definition: JSON
}
