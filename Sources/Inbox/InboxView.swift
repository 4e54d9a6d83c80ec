import Base
import RideCore
import SimulatorKit

/// What the page shows of an inbox, as JSON.
struct InboxView {
  /// How much an answer has at most; more would take long to draw.
  struct Limits {
    var phones = 8
    var messages = 200
    /// A page that begins gets the newest, and never the others.
    var firstPhones = 24
  }

  private let inbox: MessageInbox
  private let platform: Platform
  private let drawn: DrawnScreens
  private let limits: Limits

  init(
    _ inbox: MessageInbox, _ platform: Platform, _ drawn: DrawnScreens, _ limits: Limits = .init()
  ) {
    self.inbox = inbox
    self.platform = platform
    self.drawn = drawn
    self.limits = limits
  }

  /// Returns the screens of the phones of messages, by phone.
  func screens(of messages: some Sequence<InboxMessage>) -> [String: [UInt8]] {
    let ids = Set(messages.lazy.map(\.address.owner))
    return drawn.screens(of: ids.compactMap { inbox.phones[$0] }, at: .now())
  }

  /// What an answer has.
  struct Part {
    var phones: [InboxPhone]
    var messages: [InboxMessage]
    /// The revision that it leads to; what is later comes with the next answer.
    var revision: Int
  }

  /// Returns what has changed since the revision of a query, what changed first coming first.
  func part(_ query: MessageQuery) -> Part {
    var phones = inbox.phones.values.filter { $0.revision > query.after && query.matches($0) }
      .sorted { $0.revision < $1.revision }
    var messages = inbox.messages().filter { $0.revision > query.after && query.matches($0) }
    if query.after == 0 {
      return Part(
        phones: phones.suffix(limits.firstPhones), messages: messages.suffix(limits.messages),
        revision: inbox.revision)
    }
    var revision = inbox.revision
    if phones.count > limits.phones { revision = phones[limits.phones - 1].revision }
    if messages.count > limits.messages {
      let last = messages.map(\.revision).sorted()[limits.messages - 1]
      revision = min(revision, last)
    }
    phones.removeAll { $0.revision > revision }
    messages.removeAll { $0.revision > revision }
    return Part(phones: phones, messages: messages, revision: revision)
  }

  /// Returns what has changed since the revision of a query as JSON.
  func changes(_ query: MessageQuery, of service: String, at now: WallTime) -> [UInt8] {
    let start = MonotonicClock.milliseconds()
    let part = part(query)
    let screens = drawn.screens(of: part.phones, at: now)
    let phonesTotal = inbox.phones.values.count { query.matches($0) }
    var output = Array("{\"service\":\"\(service)\",\"platform\":\"\(platform.rawValue)\"".utf8)
    output += ",\"revision\":\(part.revision),\"at\":\(now.seconds)".utf8
    output += ",\"is_behind\":\(part.revision < inbox.revision)".utf8
    output += ",\"messages_total\":\(inbox.lastSequence),\"refused_total\":\(inbox.refusals)".utf8
    output += ",\"messages_left\":\(inbox.oldest - 1),\"phones_left\":\(inbox.phonesLeft)".utf8
    output += ",\"phones_total\":\(phonesTotal),\"phones\":[".utf8
    for (index, phone) in part.phones.enumerated() {
      if index > 0 { output += ",\n".utf8 }
      phone.append(to: &output, screen: screens[phone.id] ?? Array("null".utf8))
    }
    output += "],\"messages\":[".utf8
    for (index, message) in part.messages.enumerated() {
      if index > 0 { output += ",\n".utf8 }
      message.append(to: &output)
    }
    output += "],\"took_ms\":\(MonotonicClock.milliseconds() - start)}\n".utf8
    return output
  }
}

extension InboxPhone {
  fileprivate func append(to output: inout [UInt8], screen: [UInt8]) {
    output += "{\"id\":".utf8
    output.appendJSONString(id)
    output += ",\"addresses\":".utf8
    output += JSON.array(addresses.map { .string($0) }).serialized
    output += ",\"state\":".utf8
    output += (state.map { JSON.string($0.word) } ?? .null).serialized
    output += ",\"messages\":\(messages),\"refused\":\(refusals),\"revision\":\(revision)".utf8
    output += ",\"drawn_at_most\":\(PhoneScreen.limit),\"screen\":".utf8
    output += screen
    output.append(UInt8(ascii: "}"))
  }
}
