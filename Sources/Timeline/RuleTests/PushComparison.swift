import Base
import RideCore

/// Compares one push with what is expected of it.
struct PushComparison {
  private let expected: ExpectedPush

  init(_ expected: ExpectedPush) {
    self.expected = expected
  }

  func differences(
    of observation: RuleTestRun.Observation
  ) -> [UnmetExpectation.Difference] {
    var found: [UnmetExpectation.Difference] = []
    func compare(_ path: String, _ expected: String?, _ actual: String) {
      guard let expected, expected != actual else { return }
      found.append(.init(path: path, expected: expected, actual: actual))
    }
    if case .emitted(let event) = observation.outcome { compare("emit", expected.emits, event) }
    guard let push = observation.push else { return found }
    compare("post", expected.receiver, push.entry.receiver ?? "none")
    let headers = push.headers
    compare("push.type", expected.type?.rawValue, headers.pushType.rawValue)
    compare(
      "push.priority", expected.priority.map { "\($0.rawValue)" }, "\(headers.priority.rawValue)")
    compare("push.expires", expected.expires?.text, PushLine.expires(push))
    compare("push.collapse", expected.collapse, headers.collapseID?.text ?? "none")
    if let payload = expected.payload {
      found += UnmetExpectation.differences(
        of: JSONValue(json: push.payload), from: payload, at: "payload")
    }
    return found
  }
}

extension RuleExpiry {
  /// The text of the rule files.
  fileprivate var text: String {
    switch self {
    case .after(let duration): duration.rideText
    case .neverStore, .ofBackground: "never-store"
    }
  }
}
