import Testing

@testable import Base
@testable import Inbox
@testable import RideCore
@testable import SimulatorKit

@Suite struct InboxViewTests {
  private let inbox = MessageInbox()
  private let drawn: DrawnScreens
  private let view: InboxView

  init() {
    drawn = DrawnScreens(inbox, .ios)
    view = InboxView(
      inbox, .ios, drawn, InboxView.Limits(phones: 2, messages: 3, firstPhones: 4))
  }

  private func part(after revision: Int) throws -> InboxView.Part {
    view.part(try MessageQuery("/inbox.json?after=\(revision)"))
  }

  @Test func `a page that begins gets the newest`() throws {
    for number in 1...6 { inbox.add(.sample(to: "p\(number)", at: number)) }
    let first = try part(after: 0)
    #expect(first.phones.map(\.id) == ["p3", "p4", "p5", "p6"])
    #expect(first.messages.map(\.sequence) == [4, 5, 6] && first.revision == 6)
  }

  @Test(arguments: [1, 2, 5])
  func `a page that asks on gets each change, however much arrives between`(
    phones: Int
  ) throws {
    inbox.add(.sample(to: "p0"))
    for number in 1...20 { inbox.add(.sample(to: "p\(number % phones)", at: number)) }
    inbox.decide(3, .lost("expired"), at: WallTime(seconds: 2_000, microseconds: 0))
    var revision = 1
    var messages: [Int] = []
    var changed: Set<String> = []
    var answers = 0
    while revision < inbox.revision {
      let part = try part(after: revision)
      #expect(part.phones.count <= 2 && part.messages.count <= 3)
      try #require(part.revision > revision, "no answer leads nowhere")
      revision = part.revision
      messages += part.messages.map(\.sequence)
      changed.formUnion(part.phones.map(\.id))
      answers += 1
    }
    #expect(messages.sorted() == Array(2...21) && answers >= 7)
    #expect(changed == Set(inbox.phones.values.filter { $0.revision > 1 }.map(\.id)))
    #expect(try part(after: revision).messages.isEmpty)
  }

  @Test func `a page that is ahead learns where the simulator is`() throws {
    inbox.add(.sample())
    #expect(try part(after: 9).revision == 1)
  }

  private func screens(at second: Int) -> [String: [UInt8]] {
    drawn.screens(
      of: Array(inbox.phones.values), at: WallTime(seconds: 1_000 + second, microseconds: 0))
  }

  @Test func `only a phone that has changed is drawn again`() {
    inbox.add(.sample(to: "a"))
    inbox.add(.sample(to: "b"))
    let first = screens(at: 1)
    #expect(drawn.count == 2)
    let second = screens(at: 500)
    #expect(drawn.count == 2 && first["a"] != second["a"], "its clock goes on")
    #expect(JSONValue(json: second["a"] ?? [])?["at"] == .integer(1_500))
    inbox.add(.sample(to: "b"))
    _ = screens(at: 501)
    #expect(drawn.count == 3)
    inbox.countDeletion(for: InboxMessage.Address("b"))
    _ = screens(at: 502)
    #expect(drawn.count == 4)
  }

  @Test func `a card is drawn again when it becomes stale`() throws {
    let record =
      #","payload":{"aps":{"event":"update","timestamp":1,"stale-date":1010,"content-state":{}}}"#
    inbox.add(.sample(to: "c", type: "liveactivity", at: 1, record: record))
    let stale = [2, 9, 10].map { second in
      JSONValue(json: screens(at: second)["c"] ?? [])?["cards"]
    }
    #expect(drawn.count == 2)
    let flags = stale.map { cards -> JSONValue? in
      guard case .array(let cards)? = cards else { return nil }
      return cards.first?["stale"]
    }
    #expect(flags == [.bool(false), .bool(false), .bool(true)])
  }

  @Test func `few screens are kept`() {
    for number in 0..<DrawnScreens.limit + 10 { inbox.add(.sample(to: "p\(number)")) }
    #expect(screens(at: 1).count == DrawnScreens.limit + 10)
    _ = screens(at: 2)
    #expect(drawn.count == DrawnScreens.limit + 20, "those beyond the limit are drawn each time")
  }

  @Test func `the newest message of each phone has its screen`() throws {
    for token in ["a", "b", "a"] { inbox.add(.sample(to: token)) }
    inbox.add(.sample(to: "nobody", .refused))
    let site = InboxSite(
      inbox, of: "apns-simulator", for: .ios, at: try #require(Endpoint("127.0.0.1:0")),
      control: { _, _ in nil })
    var request = Request()
    request.headers = [
      Header(name: ":method", value: "GET"), Header(name: ":path", value: "/messages?screen=true"),
      Header(name: "host", value: "127.0.0.1"),
    ]
    guard case .answer(let answer) = site.respond(to: request, at: .now()),
      case .array(let messages)? = JSONValue(json: answer.body)
    else {
      Issue.record("no messages")
      return
    }
    #expect(messages.map { $0["screen"] != nil } == [false, true, true, false])
  }
}
