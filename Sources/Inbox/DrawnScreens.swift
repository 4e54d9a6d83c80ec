import Base
import RideCore
import SimulatorKit

/// The screens that were drawn last: a phone to which nothing has happened is not drawn again.
final class DrawnScreens {
  private struct Drawn {
    let revision: Int
    let json: JSONValue
    /// When the screen changes without a push.
    let changesAt: Int64
  }

  /// A screen of 300 notifications takes some 100 KB.
  static let limit = 64

  private let inbox: MessageInbox
  private let platform: Platform
  private var drawn: [String: Drawn] = [:]
  /// How many screens were drawn.
  private(set) var count = 0

  init(_ inbox: MessageInbox, _ platform: Platform) {
    self.inbox = inbox
    self.platform = platform
  }

  /// Returns the screens of phones as JSON, by phone.
  func screens(of phones: [InboxPhone], at now: WallTime) -> [String: [UInt8]] {
    var screens: [String: JSONValue] = [:]
    for phone in phones { screens[phone.id] = known(phone, at: now) }
    let missing = phones.filter { screens[$0.id] == nil }
    let ids = Set(missing.lazy.map(\.id))
    let messages =
      ids.isEmpty
      ? [:]
      : Dictionary(grouping: inbox.messages().filter { ids.contains($0.address.owner) }) {
        $0.address.owner
      }
    for phone in missing { screens[phone.id] = draw(phone, messages[phone.id] ?? [], at: now) }
    return screens.mapValues(\.json)
  }

  private func known(_ phone: InboxPhone, at now: WallTime) -> JSONValue? {
    guard let last = drawn[phone.id], last.revision == phone.revision,
      Int64(now.seconds) < last.changesAt, case .object(var members) = last.json
    else { return nil }
    members["at"] = .integer(Int64(now.seconds))
    return .object(members)
  }

  private func draw(
    _ phone: InboxPhone, _ messages: [InboxMessage], at now: WallTime
  ) -> JSONValue {
    count += 1
    let screen = PhoneScreen(
      messages, on: platform, isReachable: phone.state == nil, at: Timestamp(now))
    let json = screen.json(
      app: messages.last?.app ?? "", name: phone.name, isOn: phone.state?.isOn ?? true,
      deletions: phone.state == nil ? phone.deletions : 0)
    if drawn.count >= Self.limit, drawn[phone.id] == nil,
      let oldest = drawn.min(by: { $0.value.revision < $1.value.revision })
    {
      drawn[oldest.key] = nil
    }
    drawn[phone.id] = Drawn(
      revision: phone.revision, json: json,
      changesAt: screen.changesAt?.epochSeconds ?? .max)
    return json
  }
}
