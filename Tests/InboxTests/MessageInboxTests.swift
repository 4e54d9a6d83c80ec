import Testing

@testable import Inbox
@testable import SimulatorKit

@Suite struct MessageInboxTests {
  private func inbox(_ count: Int, messages: Int = 4, bytes: Int = 1 << 20) -> MessageInbox {
    let inbox = MessageInbox(MessageInbox.Limits(messages: messages, bytes: bytes, phones: 4))
    for number in 0..<count { inbox.add(.sample(to: "t\(number % 2)", at: number)) }
    return inbox
  }

  @Test(arguments: [(0, 1, []), (3, 1, [1, 2, 3]), (4, 1, [1, 2, 3, 4]), (9, 6, [6, 7, 8, 9])])
  func `the newest messages stay, and the others are counted`(
    count: Int, oldest: Int, left: [Int]
  ) {
    let inbox = inbox(count)
    #expect(inbox.oldest == oldest && inbox.lastSequence == count)
    #expect(inbox.messages().map(\.sequence) == left)
    #expect(inbox.messages(from: 8).map(\.sequence) == left.filter { $0 >= 8 })
  }

  @Test func `large messages leave room for fewer`() {
    let size = InboxMessage.sample().line.count
    let inbox = inbox(6, bytes: size * 2)
    #expect(inbox.messages().map(\.sequence) == [5, 6])
    inbox.add(.sample(padding: size * 3))
    #expect(inbox.messages().map(\.sequence) == [7], "the newest one stays, whatever its size")
    inbox.add(.sample())
    #expect(inbox.messages().map(\.sequence) == [8])
  }

  @Test func `a fate is changed while its message is there, and each change is a revision`() {
    let inbox = inbox(5)
    let before = inbox.revision
    let time = WallTime(seconds: 99, microseconds: 0)
    inbox.decide(3, .lost("expired"), at: time)
    #expect(inbox.revision == before + 1)
    let changed = inbox.messages().filter { $0.revision > before }
    #expect(changed.map(\.sequence) == [3] && changed.first?.fate == .lost("expired"))
    #expect(changed.first?.decidedAt == time)
    for gone in [0, 1, 6] { inbox.decide(gone, .delivered, at: time) }
    #expect(inbox.revision == before + 1, "there is no such message")
  }

  @Test func `phones that changed longest ago leave`() {
    let inbox = inbox(0)
    for number in 0..<6 { inbox.add(.sample(to: "p\(number)", at: number)) }
    #expect(inbox.phones.keys.sorted() == ["p2", "p3", "p4", "p5"] && inbox.phonesLeft == 2)
    inbox.add(.sample(to: "p2"))
    for number in 6..<7 { inbox.add(.sample(to: "p\(number)", at: number)) }
    inbox.add(.sample(to: "p7"))
    #expect(inbox.phones.keys.sorted() == ["p2", "p5", "p6", "p7"])
  }

  @Test func `phones that are off stay, as long as others have room`() {
    let inbox = inbox(0)
    for name in ["off1", "off2", "off3"] {
      inbox.setState(InboxPhoneState("offline"), of: InboxMessage.Address(name))
    }
    for number in 0..<6 { inbox.add(.sample(to: "p\(number)", at: number)) }
    #expect(
      inbox.phones.keys.sorted() == ["off2", "off3", "p3", "p4", "p5"] && inbox.phonesLeft == 4)
    inbox.setState(nil, of: InboxMessage.Address("off2"))
    for number in 6..<10 { inbox.add(.sample(to: "p\(number)", at: number)) }
    #expect(inbox.phones.keys.sorted() == ["off3", "p6", "p7", "p8", "p9"])
  }

  @Test func `tokens with a name are one phone, and a refusal alone makes none`() {
    let inbox = inbox(0)
    inbox.add(.sample(to: "a", phone: "anna"))
    inbox.add(.sample(to: "b", phone: "anna", .refused))
    inbox.add(.sample(to: "zz", .refused))
    inbox.setState(InboxPhoneState("offline"), of: InboxMessage.Address("b", phone: "anna"))
    #expect(inbox.phones.keys.sorted() == ["anna"])
    let anna = inbox.phones["anna"]
    #expect(anna?.addresses == ["a", "b"] && anna?.name == "anna")
    #expect(anna?.messages == 2 && anna?.refusals == 1 && anna?.state?.word == "offline")
    inbox.setState(nil, of: InboxMessage.Address("b", phone: "anna"))
    #expect(inbox.phones["anna"]?.state == nil && inbox.refusals == 2)
  }
}

extension InboxMessage {
  /// A message whose record is short.
  static func sample(
    to token: String = "t", phone: String? = nil, type: String = "alert", at second: Int = 0,
    _ fate: MessageFate = .delivered, record: String = "", padding: Int = 0
  ) -> InboxMessage {
    let text = #"{"x":"\#(String(repeating: "-", count: padding))"\#(record)}"# + "\n"
    return InboxMessage(
      to: Address(token, phone: phone), type: type, app: "customer",
      at: WallTime(seconds: 1_000 + second, microseconds: 0), line: Array(text.utf8), fate)
  }
}
