package struct Header: Equatable, Sendable {
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// A request as received; pseudo-headers are included, in the order received.
package struct Request: Equatable, Sendable {
  package var headers: [Header] = []
  package var body: [UInt8] = []
  /// May exceed `body.count`, which stops growing at a size that is refused anyway.
  package var bodyBytes = 0

  package init() {}

  package func value(_ name: String) -> String? {
    headers.first { $0.name == name }?.value
  }

  package var method: String { value(":method") ?? "" }
  package var path: String { value(":path") ?? "" }
}

/// A response that is ready to be sent.
package struct Answer: Equatable, Sendable {
  package let status: Int
  package let headers: [Header]
  package let body: [UInt8]

  package init(status: Int, headers: [Header], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package init(status: Int, json: JSON) {
    let type = Header(name: "content-type", value: "application/json")
    self.init(status: status, headers: [type], body: json.serialized)
  }
}

/// How a request is handled: after the delay, the steps in order; without steps it is never
/// answered.
package struct Reaction: Equatable, Sendable {
  package enum Step: Equatable, Sendable {
    case answer(Answer)
    /// The first half of the body; then the answer ends without its end.
    case halfAnswer(Answer)
    case reset(ErrorCode)
    case close
    case goAway(lastStream: Int32, data: [UInt8])
    case maximumStreams(Int)
    case blackHole
  }

  package var delayMilliseconds: Int
  package var steps: [Step]
  /// The stream limit to announce at once, before the delay.
  package var streamLimit: Int?

  package init(delayMilliseconds: Int = 0, steps: [Step]) {
    self.delayMilliseconds = delayMilliseconds
    self.steps = steps
  }

  package var isAnswered: Bool {
    steps.contains { step in
      switch step {
      case .answer, .halfAnswer: true
      default: false
      }
    }
  }
}
