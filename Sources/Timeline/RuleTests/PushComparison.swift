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
    if expected.isAboutScreen {
      let shown = ReadablePush(push)
      compare("title", expected.title, shown.title ?? "none")
      compare("channel", expected.channel, shown.android?.channel ?? "none")
      compare(
        "drawn-by", expected.drawnBy?.rawValue, shown.android?.drawing?.rawValue ?? "none")
      if let look = expected.look {
        found += UnmetExpectation.differences(of: shown.android?.look, from: look, at: "look")
      }
    }
    if let payload = expected.payload {
      found += UnmetExpectation.differences(
        of: JSONValue(json: push.payload), from: payload, at: "payload")
    }
    return found
  }
}

extension ExpectedPush {
  /// Whether it names something that the phone shows.
  fileprivate var isAboutScreen: Bool {
    title != nil || channel != nil || drawnBy != nil || look != nil
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
