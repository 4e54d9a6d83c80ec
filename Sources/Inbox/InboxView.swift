import Base
import RideCore
import SimulatorKit

/// What the page shows of an inbox, as JSON.
struct InboxView {
  /// More would take long to draw; the page states how many are left out.
  private static let mostPhones = 24
  private static let mostMessages = 200

  private let inbox: MessageInbox
  private let platform: Platform

  init(_ inbox: MessageInbox, _ platform: Platform) {
    self.inbox = inbox
    self.platform = platform
  }

  /// Returns the screens of the phones of messages, by phone.
  func screens(of messages: some Sequence<InboxMessage>) -> [String: [UInt8]] {
    let ids = Set(messages.lazy.map(\.address.owner))
    return screens(of: inbox.phones.values.filter { ids.contains($0.id) }, at: .now())
  }

  private func screens(of phones: [InboxPhone], at now: WallTime) -> [String: [UInt8]] {
    let ids = Set(phones.lazy.map(\.id))
    let messages = Dictionary(grouping: inbox.messages().filter { ids.contains($0.address.owner) })
    {
      $0.address.owner
    }
    return Dictionary(
      uniqueKeysWithValues: phones.map { phone in
        let own = messages[phone.id] ?? []
        let screen = PhoneScreen(
          own, on: platform, isReachable: phone.state == nil, at: Timestamp(now))
        let json = screen.json(
          app: own.last?.app ?? "", name: phone.name, isOn: phone.state?.isOn ?? true,
          deletions: phone.state == nil ? phone.deletions : 0)
        return (phone.id, json.json)
      })
  }

  /// Returns what has changed since the revision of a query.
  func changes(_ query: MessageQuery, of service: String, at now: WallTime) -> [UInt8] {
    let phones = inbox.phones.values
      .filter { $0.revision > query.after && query.matches($0) }
      .sorted { $0.revision > $1.revision }
    let messages = inbox.messages().filter { $0.revision > query.after && query.matches($0) }
    let shown = Array(phones.prefix(Self.mostPhones))
    let screens = screens(of: shown, at: now)
    var output = Array("{\"service\":\"\(service)\",\"platform\":\"\(platform.rawValue)\"".utf8)
    output += ",\"revision\":\(inbox.revision),\"at\":\(now.seconds)".utf8
    output += ",\"messages_total\":\(inbox.lastSequence),\"refused_total\":\(inbox.refusals)".utf8
    output += ",\"messages_left\":\(inbox.oldest - 1),\"phones_left\":\(inbox.phonesLeft)".utf8
    output += ",\"phones_not_shown\":\(phones.count - shown.count)".utf8
    output += ",\"messages_not_shown\":\(max(0, messages.count - Self.mostMessages))".utf8
    output += ",\"phones\":[".utf8
    for (index, phone) in shown.enumerated() {
      if index > 0 { output += ",\n".utf8 }
      phone.append(to: &output, screen: screens[phone.id] ?? Array("null".utf8))
    }
    output += "],\"messages\":[".utf8
    for (index, message) in messages.suffix(Self.mostMessages).enumerated() {
      if index > 0 { output += ",\n".utf8 }
      message.append(to: &output)
    }
    output += "]}\n".utf8
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
