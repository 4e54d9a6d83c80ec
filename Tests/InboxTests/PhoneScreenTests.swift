import Testing

@testable import Base
@testable import Inbox
@testable import RideCore
@testable import SimulatorKit
@testable import Timeline

@Suite struct PhoneScreenTests {
  /// Adds messages to an inbox and returns what the phone shows afterwards.
  private func screen(
    _ messages: [InboxMessage], on platform: Platform = .ios, isReachable: Bool = true,
    at second: Int64 = 100
  ) -> JSONValue {
    let inbox = MessageInbox()
    for message in messages { inbox.add(message) }
    return PhoneScreen(
      inbox.messages(), on: platform, isReachable: isReachable,
      at: Timestamp(epochSeconds: 1_000 + second)
    ).json(app: "customer", name: nil, isOn: isReachable, deletions: 0)
  }

  private func titles(_ screen: JSONValue) -> [String] {
    guard case .array(let threads)? = screen["threads"] else { return [] }
    return threads.flatMap { thread -> [JSONValue] in
      if case .array(let shown) = thread { shown } else { [] }
    }.compactMap { $0["title"]?.text }
  }

  private func alert(
    _ title: String, _ fate: MessageFate = .delivered, at second: Int = 0, id: String? = nil
  ) -> InboxMessage {
    let headers = id.map { #","headers":{"apns-collapse-id":"\#($0)"}"# } ?? ""
    return .sample(
      at: second, fate,
      record: headers + #","payload":{"aps":{"alert":{"title":"\#(title)"},"sound":"default"}}"#)
  }

  private func card(_ event: String, _ state: Int, at second: Int, to token: String) -> InboxMessage
  {
    .sample(
      to: token, phone: "mine", type: "liveactivity", at: second,
      record: """
        ,"payload":{"aps":{"event":"\(event)","timestamp":\(second),"stale-date":\(1_050 + second),\
        "content-state":{"n":\(state)}}}
        """)
  }

  @Test func `only what was delivered is shown, and what waits is listed`() {
    let messages = [
      alert("one", at: 1), alert("no", .refused, at: 2), alert("drop", .dropped, at: 3),
      alert("gone", .lost("expired"), at: 4), alert("later", .waiting, at: 5),
    ]
    let off = screen(messages, isReachable: false)
    #expect(titles(off) == ["one"] && off["online"] == .bool(false))
    guard case .array(let waiting)? = off["waiting"] else {
      Issue.record("nothing waits in \(off)")
      return
    }
    #expect(waiting.map { $0["text"]?.text } == ["later"])
    #expect(off.value(at: ["counts", "rang"]) == .integer(1))
  }

  @Test func `a collapse ID replaces, and the order is that of delivery`() {
    let inbox = MessageInbox()
    for message in [alert("a", .waiting, at: 1), alert("b", at: 2), alert("c", at: 3, id: "x")] {
      inbox.add(message)
    }
    inbox.add(alert("d", at: 4, id: "x"))
    inbox.decide(1, .delivered, at: WallTime(seconds: 1_050, microseconds: 0))
    let shown = PhoneScreen(
      inbox.messages(), on: .ios, isReachable: true, at: Timestamp(epochSeconds: 1_100)
    ).json(app: "customer", name: nil, isOn: true, deletions: 2)
    #expect(titles(shown) == ["a", "d", "b"] && shown["deletions"] == .integer(2))
  }

  @Test(arguments: [
    // A card's own token alone: the app has started it.
    (["update"], ["c"], [2], false), (["update", "update"], ["c", "c"], [3], false),
    // A start on its own token, and what follows on the card's.
    (["start", "update"], ["s", "c"], [3], false), (["start", "end"], ["s", "c"], [3], true),
    // Two cards.
    (["update", "update"], ["c", "k"], [2, 3], false),
  ])
  func `the tokens of a card are one card`(
    events: [String], tokens: [String], states: [Int64], isEnded: Bool
  ) {
    let messages = events.indices.map { index in
      card(events[index], index + 2, at: index + 1, to: tokens[index])
    }
    guard case .array(let cards)? = screen(messages, at: 10)["cards"] else {
      Issue.record("no cards")
      return
    }
    #expect(cards.map { $0.value(at: ["state", "n"]) } == states.map { .integer($0) })
    #expect(cards.last?["ended"] == .bool(isEnded) && cards.last?["stale"] == .bool(false))
  }

  @Test func `a card becomes stale without a push`() {
    guard case .array(let cards)? = screen([card("update", 1, at: 1, to: "c")], at: 60)["cards"]
    else {
      Issue.record("no cards")
      return
    }
    #expect(cards.first?["stale"] == .bool(true))
  }

  @Test func `a message to Android is drawn as the app draws it`() {
    let record = #"""
      ,"message":{"android":{"notification":{"title":"Here","channel_id":"ride_now"}},"data":{}}
      """#
    let shown = screen([.sample(type: "notification", at: 1, record: record)], on: .android)
    #expect(titles(shown) == ["Here"] && shown["platform"] == .string("android"))
  }

  @Test func `of many messages the newest are drawn`() {
    let shown = screen((0..<PhoneScreen.limit + 5).map { alert("n\($0)", at: $0) }, at: 1_000)
    #expect(titles(shown).count == PhoneScreen.limit && titles(shown).last == "n5")
  }
}
