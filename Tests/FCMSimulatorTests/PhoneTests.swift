import Testing

@testable import FCMSimulator
@testable import SimulatorKit

/// What FCM keeps for a phone that it does not reach.
@Suite struct PhoneTests {
  private static func time(_ second: Int) -> WallTime { WallTime(seconds: second, microseconds: 0) }

  private func message(
    _ name: String, at second: Int = 0, ttl: Int = 1_000, isHigh: Bool = false,
    key: String? = nil, shows: Bool = true
  ) -> StoredMessage {
    StoredMessage(
      name: name, acceptedAt: Self.time(second), ttl: ttl, isHigh: isHigh, collapseKey: key,
      showsNotification: shows, content: [:])
  }

  private func outcomes(_ deliveries: [Delivery]) -> [String] {
    deliveries.map { "\($0.message.name) \($0.outcome.rawValue)" }.sorted()
  }

  private var generator = SeededGenerator(seed: 7)

  @Test func `an awake phone gets everything at once`() {
    var phone = Phone()
    #expect(outcomes(phone.accept(message("a", ttl: 0), at: Self.time(0))) == ["a delivered"])
  }

  @Test mutating func `a dozing phone gets what is urgent, and the rest when it wakes`() {
    var phone = Phone()
    #expect(phone.become(.doze, at: Self.time(0), using: &generator).isEmpty)
    #expect(phone.accept(message("a"), at: Self.time(1)).isEmpty)
    #expect(outcomes(phone.accept(message("b", isHigh: true), at: Self.time(2))) == ["b delivered"])
    let woken = phone.become(.awake, at: Self.time(3), using: &generator)
    #expect(outcomes(woken) == ["a delivered"])
    #expect(phone.become(.awake, at: Self.time(4), using: &generator).isEmpty)
  }

  @Test mutating func `an offline phone gets what is still valid`() {
    var phone = Phone()
    _ = phone.become(.offline, at: Self.time(0), using: &generator)
    #expect(outcomes(phone.accept(message("now", ttl: 0), at: Self.time(0))) == ["now discarded"])
    _ = phone.accept(message("old", ttl: 10), at: Self.time(0))
    _ = phone.accept(message("new", at: 5, ttl: 10), at: Self.time(5))
    let reached = phone.become(.awake, at: Self.time(12), using: &generator)
    #expect(outcomes(reached) == ["new delivered", "old expired"])
  }

  @Test mutating func `a collapse key keeps its newest message, and there are four keys`() {
    var phone = Phone()
    _ = phone.become(.offline, at: Self.time(0), using: &generator)
    _ = phone.accept(message("a1", key: "a"), at: Self.time(0))
    let replaced = phone.accept(message("a2", key: "a"), at: Self.time(1))
    #expect(outcomes(replaced) == ["a1 collapsed"])
    for key in ["b", "c", "d"] { _ = phone.accept(message(key, key: key), at: Self.time(2)) }
    #expect(outcomes(phone.accept(message("e", key: "e"), at: Self.time(3))) == ["a2 collapsed"])
  }

  @Test mutating func `more than a hundred messages are all thrown away`() {
    var phone = Phone()
    _ = phone.become(.offline, at: Self.time(0), using: &generator)
    for number in 0..<100 { #expect(phone.accept(message("\(number)"), at: Self.time(1)).isEmpty) }
    let wiped = phone.accept(message("last"), at: Self.time(2))
    #expect(wiped.count == 101)
    #expect(wiped.allSatisfy { $0.outcome == .wiped })
    #expect(phone.become(.awake, at: Self.time(3), using: &generator).isEmpty)
  }

  @Test mutating func `what was stored arrives in an order that the seed decides`() {
    func order(_ seed: UInt64) -> [String] {
      var (phone, generator) = (Phone(), SeededGenerator(seed: seed))
      _ = phone.become(.offline, at: Self.time(0), using: &generator)
      for number in 0..<20 { _ = phone.accept(message("\(number)"), at: Self.time(1)) }
      return phone.become(.awake, at: Self.time(2), using: &generator).map(\.message.name)
    }
    #expect(order(1) == order(1))
    #expect(order(1) != order(2))
    #expect(order(1) != (0..<20).map(String.init))
  }

  @Test func `urgent messages that show nothing are urgent five times`() {
    var phone = Phone()
    let priorities = (0..<7).map { number in
      phone.accept(message("\(number)", isHigh: true, shows: false), at: Self.time(number))
        .map(\.isHigh)
    }
    #expect(priorities == [[true], [true], [true], [true], [true], [false], [false]])
    let kept = phone.accept(
      message("8", isHigh: true, shows: false), demotes: false, at: Self.time(8))
    #expect(kept.map(\.isHigh) == [true])
  }

  @Test mutating func `nothing reaches an app that was stopped`() {
    var phone = Phone()
    _ = phone.become(.restricted, at: Self.time(0), using: &generator)
    #expect(outcomes(phone.accept(message("a"), at: Self.time(1))) == ["a discarded"])
  }
}

/// The messages of a card, as docs/fcm-simulator.md has them.
@Suite struct CardHistoryTests {
  private func card(
    _ event: String, _ timestamp: Int, id: String? = nil, state: String = "{}"
  ) -> [String: String] {
    [
      "rp_kind": "card", "rp_card": "1.r1", "rp_id": id ?? "id-\(timestamp)", "rp_event": event,
      "rp_ts": "\(timestamp)", "rp_state": state, "rp_until": "100", "rp_gone_at": "200",
    ]
  }

  @Test(arguments: [
    ("start", "rp_until", false), ("start", "rp_gone_at", true), ("update", "rp_until", false),
    ("update", "rp_gone_at", false), ("end", "rp_until", true), ("end", "rp_gone_at", true),
  ])
  func `an update has the time at which the card goes by itself`(
    event: String, key: String, isRight: Bool
  ) {
    var history = CardHistory()
    var data = card(event, 1)
    data[key] = nil
    #expect((history.take(data, to: "a") == nil) == isRight)
    data[key] = "soon"
    #expect((history.take(data, to: "a") == nil) == isRight)
  }

  @Test(arguments: [
    ([("start", 1), ("update", 2), ("end", 3)], nil as String?),
    ([("start", 1), ("start", 1)], nil),
    ([("start", 1), ("end", 2), ("start", 3)], nil),
    ([("start", 2), ("update", 2)], "rp_ts 2 follows 2"),
    ([("start", 2), ("update", 1)], "rp_ts 1 follows 2"),
    ([("end", 1), ("update", 2)], "update follows the card's end"),
    ([("start", 1), ("end", 2), ("end", 3)], nil),
    ([("begin", 1)], "rp_event is begin"),
  ])
  func `timestamps rise, and nothing follows an end`(
    steps: [(String, Int)], problem: String?
  ) {
    var history = CardHistory()
    var found: String?
    for (index, step) in steps.enumerated() {
      // The same step twice is a repeat, whose ID is the same.
      let isRepeat = index > 0 && steps[index - 1] == step
      let id = isRepeat || step == steps[0] ? "first" : "id-\(index)"
      found = history.take(card(step.0, step.1, id: id), to: "phone") ?? found
    }
    #expect(found == problem)
  }

  @Test func `what was refused is sent again under a later time`() {
    var history = CardHistory()
    #expect(history.problem(of: card("end", 5), to: "a") == nil)
    #expect(history.take(card("end", 4), to: "a") == nil)
  }

  @Test func `each phone and each card has its own order`() {
    var history = CardHistory()
    #expect(history.take(card("start", 5), to: "a") == nil)
    #expect(history.take(card("start", 4), to: "b") == nil)
  }

  @Test func `each message has the whole state`() {
    var history = CardHistory()
    #expect(history.take(card("start", 1, state: "[]"), to: "a") != nil)
    #expect(history.take(card("end", 1, state: "[]"), to: "a") != nil)
    for (event, isRight) in [("start", false), ("update", false), ("end", true)] {
      var data = card(event, 1)
      data["rp_state"] = nil
      #expect((history.take(data, to: event) == nil) == isRight, "\(event)")
    }
    #expect(history.take(["rp_kind": "card"], to: "a") != nil)
    #expect(history.take(["rp_kind": "alert"], to: "a") == nil)
  }
}

extension CardHistory {
  /// Checks a message, and accepts it if nothing is wrong.
  fileprivate mutating func take(_ data: [String: String], to registration: String) -> String? {
    if let problem = problem(of: data, to: registration) { return problem }
    accepted(data, to: registration)
    return nil
  }
}
