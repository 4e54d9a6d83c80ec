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
    found += differencesOfShown(push)
    if let payload = expected.payload {
      found += UnmetExpectation.differences(
        of: JSONValue(json: push.payload), from: payload, at: "payload")
    }
    return found
  }
}

extension PushComparison {
  /// Compares what the phone shows.
  private func differencesOfShown(_ push: PlannedPush) -> [UnmetExpectation.Difference] {
    let isCompared =
      expected.title != nil || expected.channel != nil || expected.drawnBy != nil
      || expected.look != nil
    if !isCompared { return [] }
    let shown = ReadablePush(push)
    let texts = [
      ("title", expected.title, shown.title), ("channel", expected.channel, shown.android?.channel),
      ("drawn-by", expected.drawnBy?.rawValue, shown.android?.drawing?.rawValue),
    ]
    let found = texts.compactMap { path, expected, actual -> UnmetExpectation.Difference? in
      guard let expected, expected != actual else { return nil }
      return .init(path: path, expected: expected, actual: actual ?? "none")
    }
    guard let look = expected.look else { return found }
    return found
      + UnmetExpectation.differences(of: shown.android?.look, from: look, at: "look")
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
