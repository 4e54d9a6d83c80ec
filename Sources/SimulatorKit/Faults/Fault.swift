/// The effect of a fault on the request that it strikes, after its delay.
package enum FaultAction: Equatable, Sendable {
  /// The request is handled normally: the fault is only the delay.
  case proceed
  case answer(FaultAnswer)
  case stall
  case reset(ErrorCode)
  case close
  case goAway(LastStream, reason: String)
  /// A GOAWAY that excludes no stream, the answer, and a GOAWAY with the last stream.
  case twoStepGoAway
  /// The answer ends in the middle of its body.
  case halfBody
  case maximumStreams(Int)
  case blackHole
  /// A new connection begins without the SETTINGS that HTTP/2 demands first.
  case noSettings

  /// Returns whether the fault refuses the request or reports it as not processed.
  package func prevents(_ stream: Int32) -> Bool {
    switch self {
    case .answer(let answer): !answer.isAccepted
    case .reset(.refusedStream): true
    case .goAway(let last, _): last.number(for: stream) < stream
    default: false
    }
  }

  /// Returns what is done with a request whose answer would be this one.
  ///
  /// - Parameter data: the additional data of a GOAWAY with this reason.
  package func steps(
    _ answer: Answer, stream: Int32, goAwayData data: (String) -> [UInt8]
  ) -> [Reaction.Step] {
    switch self {
    case .proceed, .answer, .noSettings: return [.answer(answer)]
    case .stall: return []
    case .reset(let code): return [.reset(code)]
    case .close: return [.close]
    case .blackHole: return [.blackHole]
    case .maximumStreams(let count): return [.maximumStreams(count), .answer(answer)]
    case .goAway(let last, let reason):
      let lastStream = last.number(for: stream)
      let leave = Reaction.Step.goAway(lastStream: lastStream, data: data(reason))
      return stream <= lastStream ? [leave, .answer(answer)] : [leave]
    case .twoStepGoAway:
      let data = data("Shutdown")
      return [
        .goAway(lastStream: .max, data: data), .answer(answer),
        .goAway(lastStream: stream, data: data),
      ]
    case .halfBody: return [.halfAnswer(answer)]
    }
  }

  /// The key that names it in a fault, and its name in the record.
  package var word: FaultWord {
    switch self {
    case .proceed: .delay
    case .answer: .answer
    case .stall: .stall
    case .reset: .reset
    case .close: .close
    case .goAway: .goAway
    case .twoStepGoAway: .twoStepGoAway
    case .halfBody: .halfBody
    case .maximumStreams: .maximumStreams
    case .blackHole: .blackHole
    case .noSettings: .noSettings
    }
  }
}

/// The words of what faults do.
package enum FaultWord: String, CaseIterable, Sendable {
  /// The fault has `delay_ms` alone; no key names it.
  case delay
  case answer, stall, reset, close
  case goAway = "goaway"
  case twoStepGoAway = "goaway_two_step"
  case halfBody = "half_body"
  case maximumStreams = "max_streams"
  case blackHole = "no_ping"
  case noSettings = "no_settings"
}

package struct FaultAnswer: Equatable, Sendable {
  package let status: Int
  package let reason: String?
  /// Milliseconds.
  package let timestamp: Int?
  package let retryAfterSeconds: Int?
  /// Whether `retry-after` has the form of a date.
  package var isRetryAfterDate = false
  /// Whether the request is processed although the answer refuses it.
  package var isAccepted = false
  /// Sent unchanged instead of `{"reason": …}`.
  package let body: String?
}

/// The last stream that GOAWAY marks as processed.
package enum LastStream: Equatable, Sendable {
  case this
  case previous
  case number(Int)

  package func number(for stream: Int32) -> Int32 {
    switch self {
    case .this: stream
    case .previous: max(0, stream - 2)
    case .number(let number): Int32(clamping: number)
    }
  }
}

/// What a fault strikes.
package struct FaultMatch: Equatable, Sendable {
  /// Properties that the request must have, such as `topic`.
  package var values: [String: String] = [:]
  package var tokenPrefix: String?
  package var connection: Int?
  /// Strikes every n-th match.
  package var every: Int?
  /// Strikes only the first n matches.
  package var first: Int?

  package func matches(_ subject: FaultSubject) -> Bool {
    values.allSatisfy { subject.values?[$0.key] == $0.value }
      && (tokenPrefix.map { (subject.values?["token"] ?? "").hasPrefix($0) } ?? true)
      && (connection.map { $0 == subject.connection } ?? true)
  }
}

/// The properties that faults are matched against: those of a request, or of a new connection.
package struct FaultSubject: Equatable, Sendable {
  package let connection: Int
  /// Nil for a new connection, on which there is no request yet.
  package let values: [String: String]?

  package init(connection: Int, values: [String: String]?) {
    self.connection = connection
    self.values = values
  }
}

package struct Fault: Equatable, Sendable {
  package let match: FaultMatch
  package let delayMilliseconds: Int
  package let action: FaultAction
  /// How many times the fault may strike; nil means without limit.
  package let times: Int?
  /// The definition as given, for `GET /simulator/faults`.
  package let definition: JSON

  /// Whether it strikes new connections, and not requests.
  var isOfConnection: Bool { action == .noSettings }
}

/// The active faults with their counts; only the first that matches and is due strikes.
package struct FaultSet: Equatable, Sendable {
  private struct Entry: Equatable {
    let fault: Fault
    var matched = 0
    var struck = 0

    mutating func strikes(_ subject: FaultSubject) -> Bool {
      guard fault.isOfConnection == (subject.values == nil), fault.match.matches(subject) else {
        return false
      }
      matched += 1
      if let first = fault.match.first, matched > first { return false }
      if let every = fault.match.every, !matched.isMultiple(of: every) { return false }
      if let times = fault.times, struck >= times { return false }
      struck += 1
      return true
    }
  }

  private var entries: [Entry] = []

  package init(_ faults: [Fault] = []) {
    entries = faults.map { Entry(fault: $0) }
  }

  package var isEmpty: Bool { entries.isEmpty }
  package var count: Int { entries.count }

  package mutating func strike(_ subject: FaultSubject) -> Fault? {
    for index in entries.indices where entries[index].strikes(subject) {
      return entries[index].fault
    }
    return nil
  }

  /// The definitions, each with the number of times it struck.
  package var json: JSON {
    .array(
      entries.map { entry in
        var members = entry.fault.definition.object ?? [:]
        members["struck"] = .integer(entry.struck)
        return .object(members)
      })
  }
}

/// HTTP/2 error codes (RFC 9113, section 7).
package enum ErrorCode: UInt32, CaseIterable, Sendable {
  case noError, protocolError, internalError, flowControlError, settingsTimeout, streamClosed
  case frameSizeError, refusedStream, cancel, compressionError, connectError, enhanceYourCalm
  case inadequateSecurity, http11Required

  package var name: String {
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

  package init?(name: String) {
    guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
