import RideCore
import Testing

@testable import Base
@testable import Timeline

/// The model of a screen and the simulators' phones, written independently, agree on what happened to
/// each push and on what is left on the screen.
@Suite struct `Fuzzing of screens` {
  @Test func `An iPhone's screen is what the simulator of APNs delivered`() {
    var fates: [String: Int] = [:]
    Fuzz.run("screens of iPhones", cases: 5000) { chance throws(Fuzz.Fault) in
      var inbox = APNSInbox()
      var screen = Screen(.ios, at: ScreenLife.start)
      let life = ScreenLife(.ios, &chance)
      for step in life.steps { step.apply(to: &screen) }
      for step in life.steps { inbox.apply(step) }
      try compare(screen, inbox.outcomes, life, &fates)
    }
    // Otherwise the cases would show nothing.
    #expect(Set(fates.keys).isSuperset(of: ["delivered", "replaced", "not stored", "expired"]))
  }

  @Test func `An Android phone's screen is what the simulator of FCM delivered`() {
    var fates: [String: Int] = [:]
    Fuzz.run("screens of Android phones", cases: 5000) { chance throws(Fuzz.Fault) in
      var inbox = FCMInbox(seed: chance.number(0...UInt64.max))
      var screen = Screen(.android, at: ScreenLife.start)
      let life = ScreenLife(.android, &chance)
      for step in life.steps { step.apply(to: &screen) }
      for step in life.steps { inbox.apply(step) }
      try compare(screen, inbox.outcomes, life, &fates)
      try require(
        screen.deletions == inbox.deletions,
        "\(screen.deletions) reports of deleted messages, not \(inbox.deletions)")
    }
    let known = ["delivered", "replaced", "not stored", "expired", "wiped"]
    #expect(Set(fates.keys).isSuperset(of: known))
  }

  private func compare(
    _ screen: Screen, _ outcomes: [InboxOutcome], _ life: ScreenLife, _ fates: inout [String: Int]
  ) throws(Fuzz.Fault) {
    let own = Dictionary(screen.outcomes.map { ($0.push.id, $0.fate.word) }) { first, _ in first }
    for outcome in outcomes {
      fates[outcome.word, default: 0] += 1
      let word = own[outcome.id] ?? "undecided"
      try require(word == outcome.word, "\(outcome.id) is \(word), in the inbox \(outcome.word)")
    }
    try require(own.count == outcomes.count, "\(own.count) outcomes, not \(outcomes.count)")
    // Deliveries at one time have no order at FCM: the model's is taken.
    let order = Dictionary(screen.outcomes.enumerated().map { ($1.push.id, $0) }) { first, _ in
      first
    }
    let delivered = outcomes.filter { $0.word == "delivered" }
      .sorted { ($0.at, order[$0.id] ?? 0) < ($1.at, order[$1.id] ?? 0) }
    let expected = InboxScreen(delivered, life)
    try require(
      screen.notifications.map(\.text) == expected.notifications,
      "the screen has \(screen.notifications.map(\.text)), not \(expected.notifications)")
    try require(
      screen.badge == expected.badge, "badge \(screen.badge ?? 0), not \(expected.badge ?? 0)")
    let cards = screen.cards.map { "\($0.name) \($0.state.text) \($0.isStale(at: screen.now))" }
    try require(cards == expected.cards, "cards \(cards), not \(expected.cards)")
    try require(
      screen.count(.rang) == expected.rang, "rang \(screen.count(.rang)), not \(expected.rang)")
  }
}

extension PushFate {
  /// The same word for what the simulators call so.
  fileprivate var word: String {
    switch self {
    case .shown, .unseen, .ignored: "delivered"
    case .replaced: "replaced"
    case .notStored: "not stored"
    case .expired: "expired"
    case .wiped: "wiped"
    }
  }
}
