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

  /// Returns whether the fault refuses the request or reports it as not processed.
  func prevents(_ stream: Int32) -> Bool {
    switch self {
    case .answer, .reset(.refusedStream): true
    case .goAway(let last, _): last.number(for: stream) < stream
    default: false
    }
  }

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

/// The active faults with their counts; only the first that matches and is due strikes.
struct FaultSet: Equatable, Sendable {
  private struct Entry: Equatable {
    let fault: Fault
    var matched = 0
    var struck = 0

    mutating func strikes(_ subject: FaultSubject) -> Bool {
      guard fault.match.matches(subject) else { return false }
      matched += 1
      if let first = fault.match.first, matched > first { return false }
      if let every = fault.match.every, !matched.isMultiple(of: every) { return false }
      if let times = fault.times, struck >= times { return false }
      struck += 1
      return true
    }
  }

  private var entries: [Entry] = []

  init(_ faults: [Fault] = []) {
    entries = faults.map { Entry(fault: $0) }
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func strike(_ subject: FaultSubject) -> Fault? {
    for index in entries.indices where entries[index].strikes(subject) {
      return entries[index].fault
    }
    return nil
  }

  /// The definitions, each with the number of times it struck.
  var json: JSON {
    .array(
      entries.map { entry in
        var members = entry.fault.definition.object ?? [:]
        members["struck"] = .integer(entry.struck)
        return .object(members)
      })
  }
}

/// HTTP/2 error codes (RFC 9113, section 7).
enum ErrorCode: UInt32, CaseIterable, Sendable {
  case noError, protocolError, internalError, flowControlError, settingsTimeout, streamClosed
  case frameSizeError, refusedStream, cancel, compressionError, connectError, enhanceYourCalm
  case inadequateSecurity, http11Required

  var name: String {
    switch self {
    case .noError: "NO_ERROR"
    case .protocolError: "PROTOCOL_ERROR"
    case .internalError: "INTERNAL_ERROR"
    case .flowControlError: "FLOW_CONTROL_ERROR"
    case .settingsTimeout: "SETTINGS_TIMEOUT"
    case .streamClosed: "STREAM_CLOSED"
    case .frameSizeError: "FRAME_SIZE_ERROR"
    case .refusedStream: "REFUSED_STREAM"
    case .cancel: "CANCEL"
    case .compressionError: "COMPRESSION_ERROR"
    case .connectError: "CONNECT_ERROR"
    case .enhanceYourCalm: "ENHANCE_YOUR_CALM"
    case .inadequateSecurity: "INADEQUATE_SECURITY"
    case .http11Required: "HTTP_1_1_REQUIRED"
    }
  }

  init?(name: String) {
    guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
