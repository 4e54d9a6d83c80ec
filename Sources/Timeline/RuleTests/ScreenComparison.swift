import Base
import RideCore

/// Compares a phone's screen with what a test expects of it.
struct ScreenComparison {
  typealias Difference = UnmetExpectation.Difference

  private let test: RuleTest
  private let run: RuleTestRun

  init(_ test: RuleTest, _ run: RuleTestRun) {
    self.test = test
    self.run = run
  }

  /// Returns what is not met; nil if the screen is as expected.
  func unmet(_ expected: ExpectedScreen) -> UnmetExpectation? {
    guard let phone = test.scenario.phones.first(where: { $0.name == expected.phone }) else {
      return nil
    }
    // The whole second, as for pushes.
    let end = Timestamp(epochSeconds: expected.at.epochSeconds) + .microseconds(999_999)
    let screen = run.feed.screen(of: phone, at: end)
    let differences = differences(screen, expected)
    if differences.isEmpty { return nil }
    var unmet = UnmetExpectation(
      kind: .screen, location: expected.location,
      message: "\(expected.phone) at \(test.time(expected.at)) shows something else",
      differences: differences)
    unmet.screen = screen.lines { test.offset($0) }
    return unmet
  }

  private func differences(_ screen: Screen, _ expected: ExpectedScreen) -> [Difference] {
    var found: [Difference] = []
    func compare(_ path: String, _ expected: Int?, _ actual: Int) {
      guard let expected, expected != actual else { return }
      found.append(Difference(path: path, expected: "\(expected)", actual: "\(actual)"))
    }
    if let texts = expected.notifications, !screen.reads(texts) {
      found.append(
        Difference(
          path: "notifications", expected: Self.list(texts),
          actual: Self.list(screen.notifications.map(\.text))))
    }
    if let card = expected.card { found += differences(screen, card) }
    compare("badge", expected.badge, Int(screen.badge ?? 0))
    for attention in Attention.allCases.reversed() {
      compare(attention.rawValue, expected.counts[attention], screen.count(attention))
    }
    return found
  }

  private func differences(_ screen: Screen, _ expected: ExpectedScreen.Card) -> [Difference] {
    switch (expected, screen.card) {
    case (.absent, nil): return []
    case (.absent, let card?):
      return [Difference(path: "card", expected: "none", actual: card.text)]
    case (.fields, nil): return [Difference(path: "card", expected: "a card", actual: "none")]
    case (.fields(let fields, let isStale), let card?):
      var found = UnmetExpectation.differences(of: card.state, from: .object(fields), at: "card")
      let actual = card.isStale(at: screen.now)
      if let isStale, isStale != actual {
        found.append(Difference(path: "card.stale", expected: "\(isStale)", actual: "\(actual)"))
      }
      return found
    }
  }

  private static func list(_ texts: [String]) -> String {
    texts.isEmpty ? "none" : texts.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}

extension Screen {
  /// Returns whether the notifications are these, in their order.
  fileprivate func reads(_ texts: [String]) -> Bool {
    texts.count == notifications.count
      && zip(notifications, texts).allSatisfy { $0.reads($1) }
  }
}
